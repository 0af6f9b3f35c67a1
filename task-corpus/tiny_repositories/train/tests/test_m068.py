from tiny.m068 import f


def test_0():
    assert f('ca') == 'bca'


def test_1():
    assert f('ecde') == 'becde'


def test_2():
    assert f('dcbe') == 'bdcbe'


def test_3():
    assert f('eed') == 'beed'


def test_4():
    assert f('bad') == 'bbad'


def test_5():
    assert f('abda') == 'babda'


def test_6():
    assert f('aa') == 'baa'


def test_7():
    assert f('dcd') == 'bdcd'
