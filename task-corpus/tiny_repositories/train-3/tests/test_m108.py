from tiny.m108 import f


def test_0():
    assert f('cece') == 'ece'


def test_1():
    assert f('ceed') == 'eed'


def test_2():
    assert f('eec') == 'ec'


def test_3():
    assert f('cc') == 'c'


def test_4():
    assert f('bc') == 'c'


def test_5():
    assert f('ea') == 'a'


def test_6():
    assert f('eedc') == 'edc'


def test_7():
    assert f('ca') == 'a'
