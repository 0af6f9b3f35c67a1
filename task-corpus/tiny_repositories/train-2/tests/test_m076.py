from tiny.m076 import f


def test_0():
    assert f('add') == 'd'


def test_1():
    assert f('aeb') == 'v'


def test_2():
    assert f('bbbe') == 'bb'


def test_3():
    assert f('dde') == 'd'


def test_4():
    assert f('ea') == ''


def test_5():
    assert f('aaa') == 'a'


def test_6():
    assert f('becc') == 'vc'


def test_7():
    assert f('dae') == 'a'
