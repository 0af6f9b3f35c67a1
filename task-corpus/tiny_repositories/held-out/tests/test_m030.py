from tiny.m030 import f


def test_0():
    assert f('eece') == 'beeced'


def test_1():
    assert f('aec') == 'baecd'


def test_2():
    assert f('bd') == 'bbdd'


def test_3():
    assert f('aa') == 'baad'


def test_4():
    assert f('bc') == 'bbcd'


def test_5():
    assert f('dbc') == 'bdbcd'


def test_6():
    assert f('ee') == 'beed'


def test_7():
    assert f('eba') == 'bebad'
