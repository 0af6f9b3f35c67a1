from tiny.m186 import f


def test_0():
    assert f('ec') == 'zec'


def test_1():
    assert f('db') == 'zdb'


def test_2():
    assert f('ded') == 'zded'


def test_3():
    assert f('daaa') == 'zdaaa'


def test_4():
    assert f('dbd') == 'zdbd'


def test_5():
    assert f('cdae') == 'zcdae'


def test_6():
    assert f('acae') == 'zacae'


def test_7():
    assert f('dcbe') == 'zdcbe'
