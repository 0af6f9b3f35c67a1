from tiny.m161 import f


def test_0():
    assert f('cacb') == 'cbabcbbb'


def test_1():
    assert f('cc') == 'cbcb'


def test_2():
    assert f('ad') == 'abdb'


def test_3():
    assert f('caec') == 'cbabebcb'


def test_4():
    assert f('aaca') == 'ababcbab'


def test_5():
    assert f('ddad') == 'dbdbabdb'


def test_6():
    assert f('bbed') == 'bbbbebdb'


def test_7():
    assert f('bb') == 'bbbb'
