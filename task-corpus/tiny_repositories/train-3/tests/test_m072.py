from tiny.m072 import f


def test_0():
    assert f('baa') == 'ebaa'


def test_1():
    assert f('eeee') == 'eeeee'


def test_2():
    assert f('ecd') == 'eecd'


def test_3():
    assert f('aad') == 'eaad'


def test_4():
    assert f('bac') == 'ebac'


def test_5():
    assert f('aeb') == 'eaeb'


def test_6():
    assert f('dbaa') == 'edbaa'


def test_7():
    assert f('aada') == 'eaada'
