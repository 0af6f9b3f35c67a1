from tiny.m033 import f


def test_0():
    assert f('de') == 'yde'


def test_1():
    assert f('ebc') == 'yebc'


def test_2():
    assert f('abbe') == 'yabbe'


def test_3():
    assert f('ea') == 'yea'


def test_4():
    assert f('ae') == 'yae'


def test_5():
    assert f('becb') == 'ybecb'


def test_6():
    assert f('cdee') == 'ycdee'


def test_7():
    assert f('bbb') == 'ybbb'
