from tiny.m174 import f


def test_0():
    assert f('ac') == []


def test_1():
    assert f('beda') == ['ea', 'da', 'aa']


def test_2():
    assert f('ec') == []


def test_3():
    assert f('ada') == ['aa']


def test_4():
    assert f('ceba') == ['ea', 'ba', 'aa']


def test_5():
    assert f('dac') == ['ca']


def test_6():
    assert f('bdda') == ['da', 'da', 'aa']


def test_7():
    assert f('beb') == ['ba']
