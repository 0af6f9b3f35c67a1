from tiny.m235 import f


def test_0():
    assert f('eaba') == 'abae'


def test_1():
    assert f('ddac') == 'cavv'


def test_2():
    assert f('cddc') == 'cvvc'


def test_3():
    assert f('dea') == 'aev'


def test_4():
    assert f('ec') == 'ce'


def test_5():
    assert f('eae') == 'eae'


def test_6():
    assert f('dab') == 'bav'


def test_7():
    assert f('ccc') == 'ccc'
