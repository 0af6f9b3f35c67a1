from tiny.m124 import f


def test_0():
    assert f('bdad') == 'dad'


def test_1():
    assert f('bebe') == 'ebe'


def test_2():
    assert f('bcb') == 'bbc'


def test_3():
    assert f('bad') == 'ad'


def test_4():
    assert f('cd') == 'dc'


def test_5():
    assert f('eab') == 'ab'


def test_6():
    assert f('cbbc') == 'ccbb'


def test_7():
    assert f('ebe') == 'be'
