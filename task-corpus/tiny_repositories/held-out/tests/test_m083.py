from tiny.m083 import f


def test_0():
    assert f(7) == ['7', '7']


def test_1():
    assert f(12) == ['2', '2', '1', '1']


def test_2():
    assert f(10) == ['1', '1', '0', '0']


def test_3():
    assert f(5) == ['5', '5']


def test_4():
    assert f(4) == ['4', '4']


def test_5():
    assert f(6) == ['6', '6']


def test_6():
    assert f(8) == ['8', '8']


def test_7():
    assert f(9) == ['9', '9']
