from tiny.m078 import f


def test_0():
    assert f('ed') == 'ebd'


def test_1():
    assert f('ddbe') == 'dbdbbbe'


def test_2():
    assert f('cbee') == 'cbbbebe'


def test_3():
    assert f('dab') == 'dbabb'


def test_4():
    assert f('cdc') == 'cbdbc'


def test_5():
    assert f('cd') == 'cbd'


def test_6():
    assert f('ae') == 'abe'


def test_7():
    assert f('ad') == 'abd'
