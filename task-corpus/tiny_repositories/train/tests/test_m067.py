from tiny.m067 import f


def test_0():
    assert f('dd') == 'dd'


def test_1():
    assert f('ebba') == 'abbe'


def test_2():
    assert f('eab') == 'bae'


def test_3():
    assert f('eada') == 'adae'


def test_4():
    assert f('dea') == 'aed'


def test_5():
    assert f('bea') == 'aeb'


def test_6():
    assert f('dcac') == 'cacd'


def test_7():
    assert f('ca') == 'ac'
