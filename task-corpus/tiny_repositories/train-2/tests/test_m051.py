from tiny.m051 import f


def test_0():
    assert f('cddc') == 'ddc'


def test_1():
    assert f('cbad') == 'bad'


def test_2():
    assert f('eac') == 'ac'


def test_3():
    assert f('dbe') == 'be'


def test_4():
    assert f('dae') == 'ae'


def test_5():
    assert f('ab') == 'b'


def test_6():
    assert f('acd') == 'cd'


def test_7():
    assert f('acce') == 'cce'
