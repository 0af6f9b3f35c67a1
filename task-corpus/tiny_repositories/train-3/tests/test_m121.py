from tiny.m121 import f


def test_0():
    assert f('ec') == 'ec'


def test_1():
    assert f('bba') == 'abb'


def test_2():
    assert f('bedd') == 'bedd'


def test_3():
    assert f('bb') == 'bb'


def test_4():
    assert f('eaa') == 'aea'


def test_5():
    assert f('cdcc') == 'cdcc'


def test_6():
    assert f('acbc') == 'cacb'


def test_7():
    assert f('dd') == 'dd'
