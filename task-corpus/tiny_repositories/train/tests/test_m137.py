from tiny.m137 import f


def test_0():
    assert f('bcbb') == 'dbbbcb'


def test_1():
    assert f('cc') == 'dbcc'


def test_2():
    assert f('beed') == 'dbdeeb'


def test_3():
    assert f('eb') == 'dbbe'


def test_4():
    assert f('bccb') == 'dbbccb'


def test_5():
    assert f('aab') == 'dbbaa'


def test_6():
    assert f('ea') == 'dbae'


def test_7():
    assert f('ced') == 'dbdec'
