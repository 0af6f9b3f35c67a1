from tiny.m088 import f


def test_0():
    assert f('bca') == 'ca'


def test_1():
    assert f('bc') == 'c'


def test_2():
    assert f('caa') == 'aa'


def test_3():
    assert f('bbd') == 'b'


def test_4():
    assert f('bead') == 'ea'


def test_5():
    assert f('cdbb') == 'bb'


def test_6():
    assert f('aec') == 'ec'


def test_7():
    assert f('aaa') == 'aa'
