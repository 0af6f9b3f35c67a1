from tiny.m160 import f


def test_0():
    assert f('bdc') == 'xdc'


def test_1():
    assert f('db') == 'xd'


def test_2():
    assert f('bbe') == 'xe'


def test_3():
    assert f('ac') == 'xac'


def test_4():
    assert f('cddb') == 'xcdd'


def test_5():
    assert f('ec') == 'xec'


def test_6():
    assert f('bbb') == 'x'


def test_7():
    assert f('ad') == 'xad'
