#include "kernels/core/error.hpp"
#include "kernels/text/chat_template.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// Expected texts are what Jinja 3.1 prints with the environment that chat templates are written for: trim_blocks,
// lstrip_blocks, loop controls, and json.dumps without ensure_ascii as tojson.

namespace omni::text {
namespace {

using json = nlohmann::ordered_json;

const json& variables() {
  static const json all =
      json::parse(R"({"s": "  Hello, 'World' \n", "t": "abc", "e": "", "n": null, "i": 7, "f": 2.5, "b": true,
    "l": [3, 1, 2], "ls": ["b", "A", "c"], "d": {"x": 1, "y": [1, {"z": null}], "k y": "v"}, "u": "\u00e9\u00df\u4e2d\ud83d\udc69",
    "ms": [{"role": "user", "content": "hi", "n": 2},
    {"role": "assistant", "content": "ho", "n": 1},
    {"role": "user", "content": "", "n": 3}], "it": {"items": 5}, "big": 1e+20, "neg": -3, "tiny": 1e-07})");
  return all;
}

std::string render(const std::string& source) {
  std::tm now{}; // Saturday, 4 July 2026
  now.tm_year = 126;
  now.tm_mon = 6;
  now.tm_mday = 4;
  now.tm_wday = 6;
  now.tm_yday = 184;
  return chat_template::parse(source, "test").render(variables(), now).text();
}

void expect_all(const std::vector<std::pair<std::string, std::string>>& cases) {
  for (const auto& [source, wanted] : cases) {
    SCOPED_TRACE(source);
    EXPECT_EQ(render(source), wanted);
  }
}

std::string refusal(const std::string& source) {
  try {
    static_cast<void>(chat_template::parse(source, "test"));
  } catch (const load_error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(jinja, white_space_is_controlled_as_in_chat_templates) {
  expect_all({
      {"   {% if true %}\n  x\n   {% endif %}\ny\n", "  x\ny"},
      {"{%- for x in l -%}\n  {{- x -}}\n{%- endfor -%}\n", "312"},
      {"{% for x in l %}\n  {{ x }}\n{% endfor %}\nend\n\n", "  3\n  1\n  2\nend\n"},
      {"a\r\nb\r{% if true %}\r\nc{% endif %}\n", "a\nb\nc"},
      {"{# x #}\na\n  {# y #}\nb {# z #}\n c", "a\nb  c"},
      {"{% raw %}\n a {% endraw %}\nb", "\n a b"},
      {"  {%+ if true %}x{% endif %}\n  {%- if true %} y{% endif %}", "  x y"},
      {"{{ 1 }}\n\n{% if true %}\n\n{% endif %}\n z", "1\n\n\n z"},
      {"\t{% set x = 1 %}\t\n{{x}}", "\t\n1"},
      {"{% if true -%}\n\n  a\n{%- endif %}\n b", "a b"},
      {"{% if true +%}\n  a{% endif +%}\nb", "\n  a\nb"},
      {"{{- 1 -}} \n {{- 2 }}\n", "12"},
      {"{%- raw -%} \n x \n {%- endraw +%}\n y", "x\n y"},
      {"x {#- y -#}\n z {#+ q +#}\n w", "xz \n w"},
      {"{% set a = 1\n   %}{{ a\n }}", "1"},
      {"\u2028{%- if true %}a{% endif %}", "a"},
      {"\u00A0 {% if true %}a{% endif %}", "a"},
      {"", ""},
      {"\n", ""},
      {"{", "{"},
      {"{x}", "{x}"},
      {"{ { }}", "{ { }}"},
      {"a {%- if true -%} b {%- endif -%} c", "abc"},
  });
}

TEST(jinja, tags_end_only_outside_of_strings_and_brackets) {
  expect_all({
      {"{{ '}}' }}", "}}"},
      {"{% if '%}' %}a{% endif %}", "a"},
      {"{{ {'a': 1}.a }}{{ {} }}{{ {}}}", "1{}{}"},
      {"{{ {'a':{'b':{}}} }}", "{'a': {'b': {}}}"},
      {"{{ '{{' }} {{ \"}}\" }}", "{{ }}"},
      {"{# comment {{ }} %} #}a", "a"},
      {"{% raw %}{{ not }} {% if %}{% endraw %}", "{{ not }} {% if %}"},
  });
}

TEST(jinja, arithmetic_is_that_of_python) {
  expect_all({
      {"{{ i // 2 }} {{ i / 2 }} {{ i % 3 }} {{ neg // 2 }} {{ neg % 5 }} {{ 2 ** 10 }} {{ 2 ** -1 }} {{ f // 1 }} {{ "
       "f % 2 }} {{ -7 // 2 }} {{ -7.5 % 2 }} {{ 7 % -3 }} {{ 7.0 % -3 }} {{ 7 // -1 }} {{ 7 % -1 }}",
       "3 3.5 1 -2 2 1024 0.5 2.0 0.5 -4 0.5 -2 -2.0 -7 0"},
      {"{{ 1 + 2 * 3 - 4 }} {{ (1,2) + (3,) }} {{ [1] + [2] }} {{ 'a' * 3 }} {{ [0] * 3 }} {{ 2 * 'ab' }} {{ 'a' ~ 1 ~ "
       "none ~ true }} {{ -i|abs }} {{ 2**3**2 }} {{ true + 1 }}",
       "3 (1, 2, 3) [1, 2] aaa [0, 0, 0] abab a1NoneTrue 7 64 2"},
      {"{{ - 5 }} {{ +5 }} {{ --5 }} {{ 1_000 }} {{ 1.5e3 }} {{ 1e3 }}", "-5 5 5 1000 1500.0 1000.0"},
      {"{{ 1 + 1|string|int }} {{ 'a' + 'b'|upper + 'c' }} {{ -1|abs }} {{ 2 * 3|float }} {{ 'a' ~ 'b'|upper }}",
       "2 aBc 1 6.0 aB"},
  });
}

TEST(jinja, comparisons_and_logic_are_those_of_python) {
  expect_all({
      {"{{ 1 < 2 < 3 }} {{ 3 > 2 > 2 }} {{ 1 == 1.0 }} {{ true == 1 }} {{ 'a' < 'b' }} {{ [1,2] < [1,3] }} {{ none == "
       "none }} {{ ux == uy }} {{ 'b' in 'abc' }} {{ 2 in l }} {{ 'x' in d }} {{ 9 not in l }} {{ not 1 in l }}",
       "True False True True True True True True True True True True False"},
      {"{{ ms == ms }} {{ ms[0] == ms[-1] }} {{ {'a':1,'b':2} == {'b':2,'a':1} }} {{ (1,2) == [1,2] }} {{ ms[0] in ms "
       "}} {{ 'a' == 1 }} {{ 1.0 in [1] }} {{ none in [none] }} {{ '' in '' }}",
       "True False True False True False True True True"},
      {"{{ not b }} {{ b and e }} {{ e or 'z' }} {{ b and 5 }} {{ not not i }} {{ n or ux or 3 }}",
       "False  z 5 True 3"},
      {"{{ 'x' if i > 5 else 'y' }} {{ 'x' if i > 50 }} {{ ('x' if false) is undefined }} {{ 1 if false else 2 if "
       "false else 3 }}",
       "x  True 3"},
  });
}

TEST(jinja, values_print_as_in_python) {
  expect_all({
      {"{{ d }}|{{ l }}|{{ ls }}|{{ n }}|{{ b }}|{{ f }}|{{ i }}|{{ big }}|{{ tiny }}|{{ neg }}|{{ ux }}",
       "{'x': 1, 'y': [1, {'z': None}], 'k y': 'v'}|[3, 1, 2]|['b', 'A', 'c']|None|True|2.5|7|1e+20|1e-07|-3|"},
      {"{{ [s, \"a\\\"b'\", \"it's\"] }} {{ ['\\n\\t\\\\\\u200b\\xa0\\u3042\\x01'] }} {{ [ux] }}",
       "[\"  Hello, 'World' \\n\", 'a\"b\\'', \"it's\"] ['\\n\\t\\\\\\u200b\\xa0\u3042\\x01'] [Undefined]"},
      {"{{ [1,[2,(3,{'a':(4,)})]] }} {{ {'a':none,'b':true,'c':1.0} }} {{ () }} {{ (1,) }} {{ 1,2 }}",
       "[1, [2, (3, {'a': (4,)})]] {'a': None, 'b': True, 'c': 1.0} () (1,) (1, 2)"},
      {"{{ 1e16 }} {{ 123456789012345680.0 }} {{ 0.1 + 0.2 }} {{ 1e-5 }} {{ 0.0001 }} {{ 100.0 }} {{ 1e22 }} {{ 1.0e15 "
       "}} {{ 12345.678 }} {{ -0.5 }} {{ 1e300 * 1e300 }}",
       "1e+16 1.2345678901234568e+17 0.30000000000000004 1e-05 0.0001 100.0 1e+22 1000000000000000.0 12345.678 -0.5 "
       "inf"},
      {"{{ true }} {{ True }} {{ none }} {{ None }} {{ false|string + 'x' }} {{ none|string }} {{ 1|string ~ 2 }}",
       "True True None None Falsex None 12"},
  });
}

TEST(jinja, strings_know_escapes_and_neighbours) {
  expect_all({
      {"{{ \"a\\tb\\\\n\\x41\\u00e9\\U0001F600\\101\\q\" }}", "a\tb\\nA\u00E9\U0001F600A\\q"},
      {"{{ 'a' 'b' \"c\" }}", "abc"},
      {"{{ \"line1\nline2\" }}", "line1\nline2"},
      {"{{ \"a\\\nb\" }}", "ab"},
  });
}

TEST(jinja, undefined_values_are_quiet_until_they_are_used) {
  expect_all({
      {"{{ ux }}|{{ ux is defined }}|{{ ux|default('D') }}|{{ e|default('D') }}|{{ e|default('D', true) }}|{{ "
       "n|default('D') }}|{{ ux|length }}|{{ ux|list }}|{{ ux|d(1) }}",
       "|False|D||D|None|0|[]|1"},
      {"{{ d.nope }}|{{ d.nope is defined }}|{{ d['nope']|default(3) }}|{{ n.foo }}|{{ i.foo is undefined }}|{{ l[9] "
       "is defined }}",
       "|False|3||True|False"},
      {"{% for m in ux %}x{% else %}none{% endfor %}{{ 'a' in ux }}{{ ux|join }}", "noneFalse"},
  });
}

TEST(jinja, elements_and_attributes_are_looked_up_as_in_jinja) {
  expect_all({
      {"{{ it['items'] }} {{ it.items()|list }} {{ d.x }} {{ d['k y'] }} {{ ms[-1].role ~ ms[0]['ro' ~ 'le'] }} {{ "
       "it.items is callable }}",
       "5 [('items', 5)] 1 v useruser True"},
      {"{{ l[0] }} {{ l[-1] }} {{ l[5] }} {{ l.0 }} {{ 'abc'[1] }} {{ t[10] is defined }} {{ l[true] }} {{ l['x'] is "
       "defined }}",
       "3 2  3 b False 1 False"},
      {"{{ l[1:] }} {{ l[:-1] }} {{ l[::2] }} {{ l[::-1] }} {{ l[-2:] }} {{ l[10:] }} {{ l[:0] }} {{ l[1:1] }} {{ "
       "l[-100:100] }} {{ l[100:-100:-1] }} {{ l[2:0:-1] }}",
       "[1, 2] [3, 1] [3, 2] [2, 1, 3] [1, 2] [] [] [] [3, 1, 2] [2, 1, 3] [2, 1]"},
      {"{{ u[1] }}{{ u[-1] }}{{ u[::-1] }}{{ u[1:3] }}{{ u[5:1:-2] }}{{ t[None:2] }}{{ ''[::-1] }}{{ t.upper()[1] }}",
       "\u00DF\U0001F469\U0001F469\u4E2D\u00DF\u00E9\u00DF\u4E2D\U0001F469abB"},
  });
}

TEST(jinja, string_methods_are_those_of_python) {
  expect_all({
      {"{{ s.strip() }}|{{ s.lstrip() }}|{{ s.rstrip('\\n') }}|{{ s.strip(\" H\\n\") }}|{{ t.upper() }}|{{ u.upper() "
       "}}|{{ u|length }}",
       "Hello, 'World'|Hello, 'World' \n|  Hello, 'World' |ello, 'World'|ABC|\u00C9SS\u4E2D\U0001F469|4"},
      {"{{ s.split() }} {{ 'a,b,,c'.split(',') }} {{ 'a,b,,c'.split(',', 1) }} {{ 'a b  c'.rsplit(None, 1) }} {{ 'a b  "
       "c '.split(None, 1) }} {{ 'a,b,c'.rsplit(',',1) }} {{ 'a\\nb\\r\\nc\\n'.splitlines() }} {{ "
       "'a\\nb'.splitlines(true) }} {{ 'k=v=w'.partition('=') }} {{ 'k=v=w'.rpartition('=') }} {{ 'kv'.rpartition('=') "
       "}} {{ ''.split(',') }} {{ ''.split() }}",
       "['Hello,', \"'World'\"] ['a', 'b', '', 'c'] ['a', 'b,,c'] ['a b', 'c'] ['a', 'b  c '] ['a,b', 'c'] ['a', 'b', "
       "'c'] ['a\\n', 'b'] ('k', '=', 'v=w') ('k=v', '=', 'w') ('', '', 'kv') [''] []"},
      {"{{ 'abcabc'.replace('b','X') }} {{ 'abcabc'.replace('b','X',1) }} {{ 'ab'.replace('','-') }} {{ "
       "'ab'.replace('','-',2) }} {{ '\u00E9\u00E9'.replace('','-') }} {{ 'abcabc'.find('c') }} {{ 'abcabc'.rfind('c') "
       "}} {{ 'abc'.find('z') }} {{ 'banana'.count('an') }} {{ 'aaa'.count('') }}",
       "aXcaXc aXcabc -a-b- -a-b -\u00E9-\u00E9- 2 5 -1 2 4"},
      {"{{ 'abc'.startswith('ab') }} {{ 'abc'.endswith(('x','c')) }} {{ 'abc'.removeprefix('a') }}{{ "
       "'abc'.removesuffix('c') }} {{ '12'.isdigit() }} {{ 'ab1'.isalnum() }} {{ 'ab'.isalpha() }} {{ ' '.isspace() }} "
       "{{ ''.isdigit() }} {{ ','.join(ls) }} {{ ' '.join([]) }}",
       "True True bcab True True True True False b,A,c "},
      {"{{ \"they're BILL's friends\".title() }} {{ 'hELLO wORLD'.capitalize() }} {{ '\u00DF'.upper() }}",
       "They'Re Bill'S Friends Hello world SS"},
      {"{{ '%s and %d and %5.2f|%-5s|%05d|%x|%r|%%' % ('a', 5, 3.14159, 'ab', 42, 255, 'q') }} {{ '%s' % 'x' }} {{ "
       "'%s-%s'|format('a', 1) }} {{ '%+d' % 7 }} {{ '%.1s' % '\u00E9a' }}",
       "a and 5 and  3.14|ab   |00042|ff|'q'|% x a-1 +7 \u00E9"},
      {"{{ '{} {} {{}}'.format(1,'a') }} {{ '{1} {0} {x}'.format(1,'a',x=3) }}", "1 a {} a 1 3"},
  });
}

TEST(jinja, dict_and_list_methods_are_those_of_python) {
  expect_all({
      {"{{ d.items()|list }} {{ d.keys()|list }} {{ d.values()|list }} {{ d.get('x') }} {{ d.get('q') }} {{ "
       "d.get('q','w') }} {{ l.index(1) }} {{ l.count(3) }}",
       "[('x', 1), ('y', [1, {'z': None}]), ('k y', 'v')] ['x', 'y', 'k y'] [1, [1, {'z': None}], 'v'] 1 None w 1 1"},
      {"{% for k, v in d.items() %}{{ loop.index }}{{ k }}={{ v }}{{ ', ' if not loop.last }}{% endfor %}",
       "1x=1, 2y=[1, {'z': None}], 3k y=v"},
  });
}

TEST(jinja, filters_on_text) {
  expect_all({
      {"{{ s|trim }}|{{ t|upper }}|{{ 'ABC'|lower }}|{{ 'xxaxx'|trim('x') }}|{{ 7|upper }}|{{ 'abc'|replace('a','Z') "
       "}}|{{ 'abc'|reverse }}",
       "Hello, 'World'|ABC|abc|a|7|Zbc|cba"},
      {"{{ \"they're BILL's friends\"|title }} {{ 'hELLO wORLD'|capitalize }} {{ 'foo-bar (baz)'|title }}",
       "They're Bill's Friends Hello world Foo-Bar (Baz)"},
      {"{{ 'a\\nb\\n\\nc'|indent }}|{{ 'a\\nb\\n\\nc'|indent(2, true) }}|{{ 'a\\nb\\n\\nc\\n'|indent(2, false, true) "
       "}}|{{ ''|indent(2,true) }}|{{ 'a\\n'|indent }}|{{ 'a\\nb'|indent('> ') }}",
       "a\n    b\n\n    c|  a\n  b\n\n  c|a\n  b\n  \n  c\n  |  |a\n|a\n> b"},
      {"{{ '<a href=\"x\">&\\'</a>'|e }} {{ '<b>'|safe }}", "&lt;a href=&#34;x&#34;&gt;&amp;&#39;&lt;/a&gt; <b>"},
  });
}

TEST(jinja, filters_on_numbers) {
  expect_all({
      {"{{ '12'|int }} {{ 'x'|int }} {{ 'x'|int(5) }} {{ '3.7'|int }} {{ 3.99|int }} {{ ' 5 '|int }} {{ '1.5'|float }} "
       "{{ 'q'|float }} {{ i|float }} {{ true|int }} {{ n|int }} {{ 2.5|round }} {{ 3.5|round }} {{ 2.567|round(2) }} "
       "{{ 2.1|round(0,'ceil') }} {{ 2.567|round(1,'floor') }} {{ '1e3'|float }} {{ '1e3'|int }}",
       "12 0 5 3 3 5 1.5 0.0 7.0 1 0 2.0 4.0 2.57 3.0 2.5 1000.0 1000"},
  });
}

TEST(jinja, filters_on_sequences) {
  expect_all({
      {"{{ l|sort }}{{ ls|sort }}{{ ls|sort(case_sensitive=true) }}{{ l|sort(reverse=true) }}{{ l|reverse|list }}{{ "
       "l|first }}{{ l|last }}{{ []|first is undefined }}{{ l|max }}{{ l|min }}{{ l|sum }}{{ [1,1,'a','A']|unique|list "
       "}}{{ ls|join('-') }}{{ l|join }}{{ 'ab'|list }}",
       "[1, 2, 3]['A', 'b', 'c']['A', 'b', 'c'][3, 2, 1][2, 1, 3]32True316[1, 'a']b-A-c312['a', 'b']"},
      {"{{ d|dictsort }} {{ d|items|list }} {{ {'b':1,'a':2}|dictsort(by='value') }} {{ "
       "{'b':1,'a':2}|dictsort(reverse=true) }} {{ {'B':1,'a':2}|dictsort(case_sensitive=true) }}",
       "[('k y', 'v'), ('x', 1), ('y', [1, {'z': None}])] [('x', 1), ('y', [1, {'z': None}]), ('k y', 'v')] [('b', 1), "
       "('a', 2)] [('b', 1), ('a', 2)] [('B', 1), ('a', 2)]"},
      {"{{ ms|map(attribute='role')|join(',') }} {{ ms|selectattr('role','equalto','user')|list|length }} {{ "
       "ms|rejectattr('content')|map(attribute='n')|list }} {{ ms|sum(attribute='n') }} {{ "
       "ms|sort(attribute='n')|map(attribute='n')|list }} {{ ms|join('+', attribute='role') }}",
       "user,assistant,user 2 [3] 6 [1, 2, 3] user+assistant+user"},
      {"{{ ls|map('upper')|list }} {{ ls|map('replace','A','Q')|list }} {{ l|select('odd')|list }} {{ "
       "l|reject('odd')|list }} {{ [0,1,'']|select|list }} {{ l|select('gt', 1)|list }} {{ ms|map(attribute='zz', "
       "default='D')|list }} {{ [[1,2],[3]]|map('first')|list }} {{ [[1,2],[3,4]]|map(attribute=1)|list }} {{ "
       "[{'a':{'b':1}}]|map(attribute='a.b')|list }} {{ none|map('upper')|list }}",
       "['B', 'A', 'C'] ['b', 'Q', 'c'] [3, 1] [2] [1] [3, 2] ['D', 'D', 'D'] [1, 3] [2, 4] [1] []"},
      {"{% if ms|selectattr('role','equalto','zzz') %}a lazy result is true{% endif %} {{ (ms|map('upper'))[0] is "
       "defined }}",
       "a lazy result is true False"},
  });
}

TEST(jinja, tojson_writes_as_python_does) {
  expect_all({
      {"{{ s|tojson }} {{ u|tojson }} {{ u|tojson(ensure_ascii=true) }} {{ '\\x01\\x7f\\u2028/</script>'|tojson }} {{ "
       "[1,2.0,true,none,'a']|tojson }} {{ {}|tojson }} {{ []|tojson(indent=2) }}",
       "\"  Hello, 'World' \\n\" \"\u00E9\u00DF\u4E2D\U0001F469\" \"\\u00e9\\u00df\\u4e2d\\ud83d\\udc69\" "
       "\"\\u0001\177\u2028/</script>\" [1, 2.0, true, null, \"a\"] {} []"},
      {"{{ {'b':1,'a':[]}|tojson(sort_keys=true) }} {{ {'b':[1,{'c':2}],'a':{}}|tojson(indent=4) }} {{ "
       "{'a':1,'b':[1,2]}|tojson(separators=(',',':')) }} {{ {1:2, none: 3, 1.5: 5}|tojson }} {{ "
       "[1,2]|tojson(indent='--') }} {{ [1]|tojson(indent=0) }} {{ d|tojson }}",
       "{\"a\": [], \"b\": 1} {\n    \"b\": [\n        1,\n        {\n            \"c\": 2\n        }\n    ],\n    "
       "\"a\": {}\n} {\"a\":1,\"b\":[1,2]} {\"1\": 2, \"null\": 3, \"1.5\": 5} [\n--1,\n--2\n] [\n1\n] {\"x\": 1, "
       "\"y\": [1, {\"z\": null}], \"k y\": \"v\"}"},
  });
}

TEST(jinja, tests_look_at_types_and_values) {
  expect_all({
      {"{{ i is odd }}{{ i is even }}{{ i is number }}{{ b is number }}{{ b is integer }}{{ i is integer }}{{ f is "
       "float }}{{ t is string }}{{ d is mapping }}{{ l is sequence }}{{ l is iterable }}{{ t is iterable }}{{ n is "
       "none }}{{ n is iterable }}{{ i is divisibleby 7 }}{{ i is divisibleby(2) }}{{ t is lower }}{{ t is upper }}{{ "
       "b is true }}{{ b is boolean }}{{ 1 is true }}{{ d is iterable }}{{ ux is iterable }}{{ ux is none }}{{ i is "
       "sameas 7 }}{{ i is not none }}{{ range is callable }}",
       "TrueFalseTrueTrueFalseTrueTrueTrueTrueTrueTrueTrueTrueFalseTrueFalseTrueFalseTrueTrueFalseTrueTrueFalseTrueTrue"
       "True"},
      {"{{ i is eq 7 }}{{ i is gt 3 }}{{ i is in [7] }}{{ 'a' is in 'abc' }}{{ 3 is ge 3 }}{{ 3 is ne 3 }}{{ 2 is "
       "lessthan 3 }}{{ i is odd or false }}{{ i is none or i is number }}",
       "TrueTrueTrueTrueTrueFalseTrueTrueTrue"},
  });
}

TEST(jinja, loops_tell_where_they_are) {
  expect_all({
      {"{% for m in ms if m.role == 'user' %}{{ loop.index }}/{{ loop.length }}{{ m.content }}{{ loop.first }}{{ "
       "loop.last }}{{ loop.revindex }}{{ loop.revindex0 }}{% else %}none{% endfor %}",
       "1/2hiTrueFalse212/2FalseTrue10"},
      {"{% for m in [] %}x{% else %}none{% endfor %}", "none"},
      {"{% for a in l %}{% for b in l %}{{ loop.depth }}{{ loop.index0 }}{% endfor %}{{ loop.previtem }}{{ "
       "loop.nextitem }};{% endfor %}",
       "1011121;10111232;1011121;"},
      {"{% for a in l %}{% if a == 1 %}{% continue %}{% endif %}{{ a }}{% if a == 2 %}{% break %}{% endif %}{% endfor "
       "%}",
       "32"},
      {"{% for a in l %}{{ loop.cycle('x','y') }}{{ loop.changed(a > 1) }}{% endfor %}", "xTrueyTruexTrue"},
      {"{% for i2 in range(3) %}{% set outer = loop %}{% for j in range(2) %}{{ outer.index }}{{ loop.index }} {% "
       "endfor %}{% endfor %}",
       "11 12 21 22 31 32 "},
      {"{% for a, b4 in [(1,2),(3,4)] %}{{ a }}{{ b4 }}{% endfor %}{% for a, (b4, c) in [(1,(2,3))] %}{{ a }}{{ b4 "
       "}}{{ c }}{% endfor %}",
       "1234123"},
      {"{{ range(5)|list }} {{ range(1,5)|list }} {{ range(5,1,-2)|list }} {{ range(0)|list }}",
       "[0, 1, 2, 3, 4] [1, 2, 3, 4] [5, 3] []"},
  });
}

TEST(jinja, names_live_in_their_block) {
  expect_all({
      {"{% set x = 1 %}{% for a in l %}{{ x }}{% set x = a %}{{ x }}{% endfor %}{{ x }}", "1311121"},
      {"{% if true %}{% set x = 2 %}{% endif %}{{ x }}", "2"},
      {"{% set ns = namespace(a=1, b='q') %}{% for a in l %}{% set ns.a = ns.a + a %}{% endfor %}{{ ns.a }}{{ ns.b "
       "}}{{ ns.c is defined }}",
       "7qFalse"},
      {"{% set a, b2 = 1, 2 %}{{ a }}{{ b2 }}{% set c = (1, 2, 'x') %}{{ c }}", "12(1, 2, 'x')"},
      {"{% with q = 5, w = i %}{{ q }}{{ w }}{% endwith %}{{ q is defined }}", "57False"},
      {"{% generation %}{{ t }}{% set zz = 1 %}{% endgeneration %}{{ zz is defined }}", "abcFalse"},
      {"{% set ns = namespace() %}{% set ns.x, y = 1, 2 %}{{ ns.x }}{{ y }}", "12"},
      {"{{ dict(a=1,b='c') }} {{ dict({'q':1},w=2) }}", "{'a': 1, 'b': 'c'} {'q': 1, 'w': 2}"},
  });
}

TEST(jinja, blocks_can_be_captured_and_filtered) {
  expect_all({
      {"{% set x %} captured {{ i }} {% endset %}[{{ x }}]{% set y | trim | upper %} captured {% endset %}[{{ y }}]",
       "[ captured 7 ][CAPTURED]"},
      {"{% filter upper %}abc {{ t }}{% endfilter %}", "ABC ABC"},
  });
}

TEST(jinja, macros_take_arguments_and_see_their_surroundings) {
  expect_all({
      {"{% macro m(a, b='B', c=a) %}{{ a }}-{{ b }}-{{ c }}{% endmacro %}{{ m(1) }} {{ m(1, 2) }} {{ m(b=1, a=2) }} {{ "
       "m() }} {{ m(1,c=3)|upper }}",
       "1-B-1 1-2-1 2-1-2 -B- 1-B-3"},
      {"{% macro m(x) %}[{{ x }}{{ caller('q') }}]{% endmacro %}{% call(z) m(3) %}in {{ z }} {{ i }}{% endcall %}",
       "[3in q 7]"},
      {"{% macro fact(n) %}{% if n <= 1 %}1{% else %}{{ n * fact(n - 1)|int }}{% endif %}{% endmacro %}{{ fact(5) }}",
       "120"},
      {"{% macro a() %}{{ b3() }}{% endmacro %}{% macro b3() %}B{% endmacro %}{{ a() }}", "B"},
      {"{% macro a() %}{{ later }}{% endmacro %}{% set later = 5 %}{{ a() }}", "5"},
      {"{% macro a(x) %}{% set later = x %}{{ later }}{% endmacro %}{{ a(1) }}{{ later is defined }}", "1False"},
      {"{% for x in l %}{% macro q() %}{{ x }}{% endmacro %}{{ q() }}{% endfor %}", "312"},
  });
}

TEST(jinja, dates_come_from_the_caller_and_are_english) {
  expect_all({
      {"{{ strftime_now('%d %b %Y') }} {{ strftime_now('%Y-%m-%d %H:%M:%S %A %B %j %y %p %I %-d %%') }}",
       "04 Jul 2026 2026-07-04 00:00:00 Saturday July 185 26 AM 12 4 %"},
  });
}

TEST(jinja, what_python_refuses_is_refused) {
  for (const char* source : {"{{ ux.foo }}",
                             "{{ ux + 'a' }}",
                             "{{ d.nope.nope }}",
                             "{{ ux|tojson }}",
                             "{{ 1 / 0 }}",
                             "{{ 1 // 0 }}",
                             "{{ 1 % 0 }}",
                             "{{ t + 1 }}",
                             "{{ t + n }}",
                             "{{ l + t }}",
                             "{{ t < 1 }}",
                             "{{ n|length }}",
                             "{% for x in i %}{% endfor %}",
                             "{% for x in n %}{% endfor %}",
                             "{% set x.y = 1 %}",
                             "{{ foo() }}",
                             "{{ t() }}",
                             "{{ t.nope() }}",
                             "{{ l.append(1) }}",
                             "{{ d.update({}) }}",
                             "{{ t|nope }}",
                             "{{ t is nope }}",
                             "{% for a, b4 in [(1,2,3)] %}{% endfor %}",
                             "{{ l|map('nope')|list }}",
                             "{{ 1 in 2 }}",
                             "{{ range(10**6) }}",
                             "{{ 'a'.split('') }}",
                             "{{ '%d' % 'x' }}",
                             "{{ '%s %s' % 'x' }}",
                             "{{ -'a' }}",
                             "{{ l[::0] }}",
                             "{{ ms|selectattr('role','equalto','user')|length }}"})
    EXPECT_THROW(render(source), input_error) << source;
}

TEST(jinja, broken_templates_are_refused_with_their_line) {
  for (const char* source : {"{{",
                             "{{ 1",
                             "{% if true %}",
                             "{% endif %}",
                             "{% for x %}{% endfor %}",
                             "{% nope %}",
                             "{{ 'abc }}",
                             "{# abc",
                             "{% raw %}x",
                             "{{ 1 + }}",
                             "{{ (1 }}",
                             "{{ 1) }}",
                             "{{ [1 }}",
                             "{{ {1 }}",
                             "{{ a..b }}",
                             "{{ a[ }}",
                             "{{ a | }}",
                             "{{ a is }}",
                             "{{ f(a=1, 2) }}",
                             "{% set %}",
                             "{% set 1 = 2 %}",
                             "{% macro %}{% endmacro %}",
                             "{% break %}",
                             "{{ @ }}",
                             "{% include 'x' %}",
                             "{% extends 'x' %}",
                             "{% import 'x' as y %}",
                             "{{ }}",
                             "{% if %}{% endif %}",
                             "{{ '\\x4' }}",
                             "{{ f(*a) }}",
                             "{% call 1 %}{% endcall %}"})
    EXPECT_THAT(refusal(std::string("\n\n") + source), testing::HasSubstr("line 3")) << source;
}

} // namespace
} // namespace omni::text
