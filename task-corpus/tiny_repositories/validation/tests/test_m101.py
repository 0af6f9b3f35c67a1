from tiny.m101 import f


def test_0():
    assert f('aa') == 'ya'


def test_1():
    assert f('bd') == 'yb'


def test_2():
    assert f('ecc') == 'yec'


def test_3():
    assert f('aeee') == 'yae'


def test_4():
    assert f('acbb') == 'yab'


def test_5():
    assert f('aba') == 'yaa'


def test_6():
    assert f('bece') == 'ybc'


def test_7():
    assert f('eabb') == 'yeb'
