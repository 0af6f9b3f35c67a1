import pytest
from parcel.formulas import EXAMPLES, value_of

VALUES = [(text, eval(text)) for text in EXAMPLES]


@pytest.mark.parametrize("at", range(2))
def test_value_of_example(at):
    text, value = VALUES[at]
    assert value_of(text) == value
