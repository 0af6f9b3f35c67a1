from tiny.m136 import f


def test_0():
    assert f('cd') == ''


def test_1():
    assert f('eec') == 'e'


def test_2():
    assert f('cde') == 'd'


def test_3():
    assert f('dd') == ''


def test_4():
    assert f('cc') == ''


def test_5():
    assert f('ae') == ''


def test_6():
    assert f('dea') == 'e'


def test_7():
    assert f('ead') == 'a'
