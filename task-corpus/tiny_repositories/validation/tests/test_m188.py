from tiny.m188 import f


def test_0():
    assert f('cee') == 'eec'


def test_1():
    assert f('edac') == 'xace'


def test_2():
    assert f('ac') == 'ca'


def test_3():
    assert f('ce') == 'ec'


def test_4():
    assert f('edeb') == 'xebe'


def test_5():
    assert f('dedc') == 'excx'


def test_6():
    assert f('dde') == 'xex'


def test_7():
    assert f('ceb') == 'ebc'
