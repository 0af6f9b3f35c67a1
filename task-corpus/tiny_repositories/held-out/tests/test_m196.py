from tiny.m196 import f


def test_0():
    assert f('ba') == ['ba', 'b']


def test_1():
    assert f('dd') == ['dd', 'b']


def test_2():
    assert f('ecaa') == ['caa', 'b']


def test_3():
    assert f('ec') == ['c', 'b']


def test_4():
    assert f('bbbc') == ['bbbc', 'b']


def test_5():
    assert f('bc') == ['bc', 'b']


def test_6():
    assert f('adb') == ['adb', 'b']


def test_7():
    assert f('bced') == ['bcd', 'b']
