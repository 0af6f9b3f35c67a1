from tiny.m129 import f


def test_0():
    assert f('aa') == 'aaaa'


def test_1():
    assert f('ce') == 'ecec'


def test_2():
    assert f('dde') == 'dddd'


def test_3():
    assert f('dd') == 'dddd'


def test_4():
    assert f('dba') == 'bdbd'


def test_5():
    assert f('ae') == 'eaea'


def test_6():
    assert f('daa') == 'adad'


def test_7():
    assert f('cde') == 'dcdc'
