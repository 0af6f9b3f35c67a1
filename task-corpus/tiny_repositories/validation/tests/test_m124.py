from tiny.m124 import f


def test_0():
    assert f('bece') == 'aecebd'


def test_1():
    assert f('ecec') == 'aceced'


def test_2():
    assert f('ca') == 'aacd'


def test_3():
    assert f('bbe') == 'aebbd'


def test_4():
    assert f('bd') == 'adbd'


def test_5():
    assert f('ddeb') == 'abeddd'


def test_6():
    assert f('ad') == 'adad'


def test_7():
    assert f('cabe') == 'aebacd'
