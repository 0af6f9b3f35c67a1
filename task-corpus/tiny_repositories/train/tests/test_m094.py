from tiny.m094 import f


def test_0():
    assert f('eedc') == 'cdcd'


def test_1():
    assert f('dece') == 'dcdc'


def test_2():
    assert f('de') == 'd'


def test_3():
    assert f('eed') == 'd'


def test_4():
    assert f('aba') == 'b'


def test_5():
    assert f('dbb') == 'bdb'


def test_6():
    assert f('dc') == 'cdcd'


def test_7():
    assert f('cd') == 'dcdc'
