from tiny.m169 import f


def test_0():
    assert f('ed') == ['edede', 'z']


def test_1():
    assert f('cdd') == ['dcddcddc', 'z']


def test_2():
    assert f('dcc') == ['cdccdccd', 'z']


def test_3():
    assert f('cd') == ['cdcdc', 'z']


def test_4():
    assert f('ceae') == ['aeceaeceaec', 'z']


def test_5():
    assert f('ce') == ['cecec', 'z']


def test_6():
    assert f('dec') == ['edcedced', 'z']


def test_7():
    assert f('ec') == ['ecece', 'z']
