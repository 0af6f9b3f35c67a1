from tally.core import total
from tally.steps import step


def test_step():
    with step("sum") as name:
        assert name == "sum"
        assert total([5, 6]) == 11
