from tiny.m105 import f


def test_0():
    assert f('eda') == 'edaeda'


def test_1():
    assert f('beae') == 'beaebeae'


def test_2():
    assert f('aabb') == 'aabbaabb'


def test_3():
    assert f('daeb') == 'daebdaeb'


def test_4():
    assert f('bc') == 0


def test_5():
    assert f('ea') == -1


def test_6():
    assert f('ca') == -1


def test_7():
    assert f('cd') == -1
