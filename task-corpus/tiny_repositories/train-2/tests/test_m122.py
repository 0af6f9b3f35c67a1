from tiny.m122 import f


def test_0():
    assert f('aabe') == -1


def test_1():
    assert f('bee') == -1


def test_2():
    assert f('acaa') == 1


def test_3():
    assert f('acc') == 1


def test_4():
    assert f('bde') == -1


def test_5():
    assert f('eeb') == -1


def test_6():
    assert f('ccc') == 0


def test_7():
    assert f('eacd') == 2
