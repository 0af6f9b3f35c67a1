from tiny.m062 import f


def test_0():
    assert f('edb') == 'dbdb'


def test_1():
    assert f('edee') == 'deedee'


def test_2():
    assert f('ebc') == 'bcbc'


def test_3():
    assert f('dc') == 'cc'


def test_4():
    assert f('bcea') == 'ceacea'


def test_5():
    assert f('dbde') == 'bdebde'


def test_6():
    assert f('de') == 'ee'


def test_7():
    assert f('bcc') == 'cccc'
