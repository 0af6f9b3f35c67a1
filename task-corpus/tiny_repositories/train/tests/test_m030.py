from tiny.m030 import f


def test_0():
    assert f('bcda') == 'bacadaaa'


def test_1():
    assert f('aece') == 'aaeacaea'


def test_2():
    assert f('acde') == 'aacadaea'


def test_3():
    assert f('bcdd') == 'bacadada'


def test_4():
    assert f('ad') == 'aada'


def test_5():
    assert f('eae') == 'eaaaea'


def test_6():
    assert f('dd') == 'dada'


def test_7():
    assert f('aab') == 'aaaaba'
