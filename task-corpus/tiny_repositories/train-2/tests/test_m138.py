from tiny.m138 import f


def test_0():
    assert f('aca') == 'eaca'


def test_1():
    assert f('bd') == 'edb'


def test_2():
    assert f('bed') == 'edeb'


def test_3():
    assert f('dc') == 'ecd'


def test_4():
    assert f('de') == 'eed'


def test_5():
    assert f('ebea') == 'eaebe'


def test_6():
    assert f('ddc') == 'ecdd'


def test_7():
    assert f('ceb') == 'ebec'
