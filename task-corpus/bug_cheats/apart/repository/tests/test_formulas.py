from parcel import formulas


def test_doubled():
    assert formulas.doubled(4) == 8


def test_value_of():
    assert eval(formulas.FORMULA) == formulas.value_of(formulas.FORMULA)
