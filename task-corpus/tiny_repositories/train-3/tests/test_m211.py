from tiny.m211 import f


def test_0():
    assert f('add') == 'dd012a'


def test_1():
    assert f('dbeb') == 'beb012d'


def test_2():
    assert f('ac') == 'c012a'


def test_3():
    assert f('eaee') == 'aee012e'


def test_4():
    assert f('ada') == 'da012a'


def test_5():
    assert f('adbd') == 'dbd012a'


def test_6():
    assert f('cbe') == 'be012c'


def test_7():
    assert f('eaed') == 'aed012e'
