from tiny.m035 import f


def test_0():
    assert f('dee') == 2


def test_1():
    assert f('ea') == 1


def test_2():
    assert f('aeb') == 1


def test_3():
    assert f('edcb') == 1


def test_4():
    assert f('ed') == 1


def test_5():
    assert f('daa') == 0


def test_6():
    assert f('eee') == 3


def test_7():
    assert f('db') == 0
