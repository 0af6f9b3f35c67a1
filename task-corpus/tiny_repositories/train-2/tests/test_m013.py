from tiny.m013 import f


def test_0():
    assert f('de') == -1


def test_1():
    assert f('bbe') == -2


def test_2():
    assert f('bb') == -2


def test_3():
    assert f('ddbd') == 1


def test_4():
    assert f('dcd') == 0


def test_5():
    assert f('bd') == -1


def test_6():
    assert f('ce') == -2


def test_7():
    assert f('aa') == -2
