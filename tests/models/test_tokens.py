"""How many tokens a request has, known or estimated."""

from __future__ import annotations

import base64
import json
import random
import string
import timeit
import uuid

import pytest
from inline_snapshot import snapshot
from PIL import Image

from agent_magic.core.messages import ChatMessage, ImagePart, ToolCall, ToolSchema
from agent_magic.models.litellm import LiteLLMModel
from agent_magic.models.model import Capabilities
from agent_magic.models.scripted import ScriptedModel
from agent_magic.models.tokens import TokenCount, count_message, count_tools, estimate_tokens

CHANCE = random.Random(7)


def drawn(alphabet: str, n: int = 1_500) -> str:
    return "".join(CHANCE.choices(alphabet, k=n))


def letters(first: int, last: int, n: int = 500) -> str:
    return "".join(chr(CHANCE.randint(first, last)) for _ in range(n))


PROSE = "The ferry left an hour before dawn, and by the time the sun was up the island had become a thin grey line behind us. Nobody spoke much. My brother had brought coffee in a flask that leaked, and we passed it around until the cup was too cold to be worth holding. Some decisions are made slowly, over years, and only look sudden to those who were not paying attention. "
BASE64 = base64.b64encode(CHANCE.randbytes(1_200)).decode()
HEX = "0x7f3a9b2c " * 150
RECORDS = [
    {"id": n, "name": f"row {n}", "value": round(CHANCE.uniform(0, 1_000), 4), "ok": n % 2 == 0}
    for n in range(20)
]
MOMENTS = [(CHANCE.randint(0, 59), CHANCE.randint(0, 999), CHANCE.randint(0, 99_999)) for _ in range(20)]

# By the kind of text: at most how many times the tokens that it has, and the text.
KINDS: dict[str, tuple[float, str]] = {
    "English": (1.5, PROSE),
    "English of manuals": (1.5, "Each estimator exposes a fit method, which learns the parameters of the model from training data, and a predict method that applies them to new observations. Cross-validation repeatedly partitions the dataset; the average score approximates generalisation performance. Missing values must be imputed beforehand, and categorical variables encoded. "),
    "English with typographic signs": (1.5, "“It’s late,” she said — “we’ve been here since ten o’clock…” He didn’t answer; the clock’s hands hadn’t moved. ‘Nothing’s changed,’ he thought. "),
    "German": (1.5, "Lies zuerst die Daten ein, prüfe die fehlenden Werte und berechne dann die durchschnittliche Körpermasse jeder Pinguinart. Die Größe der Flügel wird über die Flügellänge geschätzt; Regressionskoeffizienten und Standardabweichungen stehen in der Zusammenfassung. "),
    "French": (1.5, "Commencez par lire les données, vérifiez les valeurs manquantes, puis calculez la masse moyenne de chaque espèce. Il a plu toute la nuit, et les rues étaient déjà inondées à l’aube. "),
    "Python": (1.6, 'def mean(values: Sequence[float], weights: Sequence[float] | None = None) -> float:\n    """The mean of values, each as often as its weight says."""\n    if weights is None:\n        weights = [1.0] * len(values)\n    return sum(v * w for v, w in zip(values, weights, strict=True)) / sum(weights)\n'),
    "minified JavaScript": (1.6, '!function(e,t){"object"==typeof exports&&"undefined"!=typeof module?module.exports=t():(e=e||self).Vue=t()}(this,function(){"use strict";var e=Object.freeze({});function t(e){return null==e}function n(e){return null!=e}for(var h=0,m=c.length;h<m;h++){d[c[h]]=!0}});'),
    "traceback": (1.7, 'Traceback (most recent call last):\n  File "/opt/ann/.venv/lib/python3.11/site-packages/pandas/core/indexes/base.py", line 3805, in get_loc\n    return self._engine.get_loc(casted_key)\nKeyError: \'bill_lenght_mm\'\n'),
    "Markdown": (1.5, "## Results\n\n| Species | n | Mean mass (g) |\n|---|---:|---:|\n| Adelie | 152 | 3700.7 |\n| Gentoo | 124 | 5076.0 |\n\n- **Adelie** penguins live on *all three* islands.\n- See [the notebook](https://example.org/penguins.ipynb#mass).\n"),
    "LaTeX": (1.4, r"\begin{equation}\frac{\partial u_i}{\partial t}+u_j\frac{\partial u_i}{\partial x_j}=-\frac{1}{\rho}\frac{\partial p}{\partial x_i}+\nu\,\nabla^{2}u_i\end{equation} $\int_{-\infty}^{\infty}e^{-x^2}\,dx=\sqrt{\pi},\;\mathcal{L}(\theta)=\prod_{i=1}^N p_\theta(x_i\mid z_i)$ \[\begin{pmatrix}a&b\\c&d\end{pmatrix}\cdot\vec{v}\] "),
    "JSON": (1.5, json.dumps(RECORDS)),
    "JSON with indents": (1.5, json.dumps(RECORDS, indent=2)),
    "CSV": (1.5, "".join(f"{CHANCE.choice(['Adelie', 'Gentoo'])},Torgersen,{CHANCE.uniform(30, 60):.1f},{CHANCE.randint(170, 230)},male\n" for _ in range(40))),
    "log": (1.7, "".join(f"2024-05-17 12:07:{second:02},{ms:03} WARNING [worker-3] app.db.pool: Connection {n} to 10.0.3.17:5432 closed after {ms} ms\n" for second, ms, n in MOMENTS)),
    "small numbers": (1.5, ", ".join(str(CHANCE.randint(0, 99)) for _ in range(400))),
    "long numbers": (2.2, "\n".join(",".join(f"{CHANCE.gauss(0, 1):.12f}" for _ in range(5)) for _ in range(20))),
    "data frame": (1.5, "\n".join(f"{n:<4} {'Adelie':>10} {CHANCE.uniform(30, 60):8.1f} {'NaN':>14}" for n in range(40))),
    "UUIDs": (1.6, "\n".join(str(uuid.UUID(int=CHANCE.getrandbits(128))) for _ in range(40))),
    "hex": (1.2, HEX),
    "hex without blanks": (1.2, HEX.replace(" ", "")),
    "addresses": (1.5, "".join(f"<__main__.Penguin object at 0x{CHANCE.getrandbits(48):012x}> " for _ in range(40))),
    "hashes": (1.7, "\n".join(f"{CHANCE.getrandbits(256):064x}" for _ in range(25))),
    "Base64": (1.3, BASE64),
    "prose and Base64": (1.4, PROSE * 4 + BASE64),
    "prose and hex": (1.3, PROSE * 4 + HEX),
    "lower-case letters by chance": (1.2, drawn(string.ascii_lowercase)),
    "letters by chance": (1.3, drawn(string.ascii_letters)),
    "printable characters by chance": (1.3, drawn(string.digits + string.ascii_letters + string.punctuation)),
    "one-letter words": (1.5, "a b c d e " * 150),
    "one-letter lines": (1.2, "a\n" * 400),
    "maths": (1.5, "∀ε>0 ∃δ>0: |x−a|<δ ⇒ |f(x)−f(a)|<ε; A∪B ⊆ C∩D, ∑ᵢ xᵢ² ≤ ∞, ∇·E = ρ⁄ε₀, ∮ B·dl ≠ 0, x ∈ ℝ ∖ ℚ, ⟨u,v⟩ ⊥ w, ∂f∕∂x ∝ ∫₀¹ g "),
    "maths signs": (1.4, letters(0x2200, 0x22FF)),
    "maths letters": (1.5, letters(0x1D400, 0x1D7CB)),
    "emoji": (1.5, letters(0x1F600, 0x1F64F)),
    "joined emoji": (1.2, "👩‍👩‍👧‍👦👨🏽‍🚀🏳️‍🌈👩🏿‍🔬🧑‍🤝‍🧑👁️‍🗨️🧔🏻‍♂️"),
    "flags": (1.2, letters(0x1F1E6, 0x1F1FF)),
    "private use": (1.2, letters(0xE000, 0xF8FF)),
    "private use of a later plane": (1.2, letters(0xF0000, 0xF1000)),
    "Chinese": (2.3, "请先读取数据文件，检查缺失值，然后按照物种分组计算平均体重。如果某一列的类型不正确，就把它转换成数值类型。昨天下了一整夜的雨，早上街道上到处都是积水，孩子们穿着雨鞋在水里跑来跑去。"),
    "Traditional Chinese": (1.7, "請先讀取資料檔案，檢查缺失值，然後按照物種分組計算平均體重。如果某一欄的類型不正確，就把它轉換成數值類型。臺灣的颱風季節從夏天開始，農民憂慮稻穀與鳳梨的收穫，漁船則紛紛駛進港灣躲避風浪。"),
    "rare Chinese": (1.2, letters(0x4E00, 0x9FA5)),
    "rarest Chinese": (1.2, letters(0x20000, 0x2A000)),
    "Japanese": (2.4, "まずデータを読み込み、欠損値を確認してから、種ごとに平均体重を計算してください。昨日は一晩中雨が降っていたので、朝の道には水たまりがたくさんあり、子どもたちは長靴をはいて走り回っていました。"),
    "Korean": (2.1, "먼저 데이터를 읽고 결측값을 확인한 다음 종별로 평균 체중을 계산하세요. 어젯밤에 비가 많이 와서 아침 거리에는 물웅덩이가 가득했고 아이들은 장화를 신고 뛰어다녔다. "),
    "Russian": (2.1, "Сначала прочитайте данные, проверьте пропущенные значения и вычислите среднюю массу по каждому виду. Вчера всю ночь шёл дождь, и утром на улицах стояли лужи, а дети бегали по ним в резиновых сапогах. "),
    "Greek": (1.3, "Πρώτα διαβάστε τα δεδομένα, ελέγξτε τις τιμές που λείπουν και υπολογίστε τη μέση μάζα για κάθε είδος. Χθες έβρεχε όλη τη νύχτα. "),
    "polytonic Greek": (1.3, "Ἄνδρα μοι ἔννεπε, Μοῦσα, πολύτροπον, ὃς μάλα πολλὰ πλάγχθη, ἐπεὶ Τροίης ἱερὸν πτολίεθρον ἔπερσε· πολλῶν δ’ ἀνθρώπων ἴδεν ἄστεα καὶ νόον ἔγνω. "),
    "Arabic": (1.5, "اقرأ البيانات أولاً وتحقق من القيم المفقودة ثم احسب متوسط الكتلة لكل نوع. هطل المطر طوال الليل وامتلأت الشوارع بالماء في الصباح. "),
    "Hebrew": (1.3, "תחילה קראו את הנתונים, בדקו ערכים חסרים וחשבו את המסה הממוצעת של כל מין. כל הלילה ירד גשם והרחובות היו מלאים מים. "),
    "Hindi": (1.9, "पहले डेटा पढ़ें, लापता मान जाँचें और फिर हर प्रजाति का औसत द्रव्यमान निकालें। कल रात भर बारिश हुई और सुबह सड़कों पर पानी भरा था। "),
    "Thai": (2.3, "อ่านข้อมูลก่อน ตรวจสอบค่าที่หายไป แล้วคำนวณมวลเฉลี่ยของแต่ละชนิด เมื่อคืนฝนตกทั้งคืน ตอนเช้าถนนเต็มไปด้วยน้ำ "),
    "Vietnamese": (2.2, "Trước hết hãy đọc dữ liệu, kiểm tra các giá trị bị thiếu rồi tính khối lượng trung bình của từng loài. Đêm qua trời mưa suốt, sáng nay đường phố ngập nước. "),
    "Burmese": (1.6, "ပထမဦးစွာ အချက်အလက်များကို ဖတ်ပါ၊ ပျောက်ဆုံးနေသောတန်ဖိုးများကို စစ်ဆေးပြီး ပျမ်းမျှထုထည်ကို တွက်ချက်ပါ။ "),
    "Cherokee": (1.2, letters(0x13A0, 0x13F5)),
}  # fmt: skip
# By the kind of text: at least what part of the tokens that it has, and the text.
TOO_LOW = {
    "Swahili": (0.65, "Kwanza soma takwimu, angalia thamani zinazokosekana, kisha kokotoa wastani wa uzito wa kila spishi. Mvua ilinyesha usiku kucha na asubuhi barabara zilijaa maji. "),
    "Finnish": (0.65, "Lue ensin tiedot, tarkista puuttuvat arvot ja laske sitten jokaisen lajin keskimääräinen massa. Yöllä satoi koko ajan, ja aamulla kadut olivat täynnä vettä. "),
    "words of no language": (0.45, " ".join(drawn(string.ascii_lowercase, CHANCE.randint(3, 8)) for _ in range(300))),
}  # fmt: skip
RUNS = {
    "blanks": " ",
    "line ends": "\n",
    "one letter": "x",
    "one capital": "A",
    "one digit": "0",
    "dashes": "-",
}


@pytest.fixture(scope="module")
def known() -> LiteLLMModel:
    """A model whose tokenizer is at hand."""
    return LiteLLMModel("openai/gpt-4")


def real_tokens(text: str) -> int:
    """By OpenAI's older and newer tokenizer, whichever has more."""
    counts = [LiteLLMModel(name).count_tokens(text) for name in ("openai/gpt-4", "openai/gpt-4o")]
    assert counts[0] is not None
    assert counts[1] is not None
    return max(counts[0], counts[1])


@pytest.mark.parametrize("kind", KINDS)
def test_estimate_is_hardly_ever_too_low_and_within_a_factor(kind: str) -> None:
    most, text = KINDS[kind]
    text *= -(-1_500 // len(text))
    ratio = estimate_tokens(text) / real_tokens(text)
    assert 0.95 <= ratio <= most


@pytest.mark.parametrize("kind", TOO_LOW)
def test_estimate_of_words_that_tokenizers_do_not_know_is_too_low_within_a_factor(kind: str) -> None:
    least, text = TOO_LOW[kind]
    text *= -(-1_500 // len(text))
    assert least <= estimate_tokens(text) / real_tokens(text) < 0.95


@pytest.mark.parametrize("kind", RUNS)
def test_estimate_of_a_run_of_one_character_is_too_high(kind: str) -> None:
    text = RUNS[kind] * 2_000
    assert real_tokens(text) <= estimate_tokens(text) <= len(text) + 1


def test_the_two_tokenizers_that_estimates_are_measured_by_are_two() -> None:
    text = KINDS["Hindi"][1]
    assert LiteLLMModel("openai/gpt-4").count_tokens(text) != LiteLLMModel("openai/gpt-4o").count_tokens(text)


def test_estimate_of_nothing_and_of_little() -> None:
    assert [estimate_tokens(text) for text in ("", "a", "word", "1234", "日", "😀", "\ud800")] == snapshot(
        [0, 2, 2, 5, 3, 4, 3]
    )


@pytest.mark.parametrize("kind", ["English", "Base64", "Chinese"])
def test_estimate_is_fast_enough_for_every_request(kind: str) -> None:
    text = KINDS[kind][1] * 10
    seconds = min(timeit.repeat(lambda: estimate_tokens(text), number=20, repeat=5)) / 20
    assert seconds / len(text) * 1_000 < 1e-3


MESSAGES = [
    ChatMessage(role="user", content="Add one and two."),
    ChatMessage(role="assistant", tool_calls=(ToolCall(id="c", name="add", arguments={"a": 1, "b": 2}),)),
    ChatMessage(role="tool", content="3", tool_call_id="c"),
    ChatMessage(role="user", content="Look.", images=(ImagePart(image=Image.new("RGB", (3, 2))),)),
]
ADD = ToolSchema(name="add", description="Add.", parameters={"type": "object", "properties": {}})


def test_messages_of_a_known_tokenizer_are_counted_with_what_is_around_them(known: LiteLLMModel) -> None:
    wire = known.to_wire(MESSAGES, [ADD])
    assert [count_message(message, known) for message in wire.messages] == snapshot(
        [TokenCount(n=9), TokenCount(n=25), TokenCount(n=5), TokenCount(n=15)]
    )
    assert count_tools(wire.tools, known) == snapshot(TokenCount(n=34))


def test_messages_of_an_unknown_tokenizer_are_estimated_and_say_so() -> None:
    model = ScriptedModel(capabilities=Capabilities(images=True))
    wire = model.to_wire(MESSAGES, [ADD])
    assert [count_message(message, model) for message in wire.messages] == snapshot(
        [
            TokenCount(n=11, is_estimate=True),
            TokenCount(n=27, is_estimate=True),
            TokenCount(n=6, is_estimate=True),
            TokenCount(n=1607, is_estimate=True),
        ]
    )
    assert count_tools(wire.tools, model) == snapshot(TokenCount(n=54, is_estimate=True))


class Failing(ScriptedModel):
    """A model whose tokenizer fails."""

    def count_tokens(self, text: str) -> int:
        raise RuntimeError(text)


def test_messages_are_estimated_if_the_tokenizer_fails() -> None:
    message = {"role": "user", "content": "Add one and two."}
    assert count_message(message, Failing()) == count_message(message, ScriptedModel())
    assert count_tools([{"name": "add"}], Failing()) == count_tools([{"name": "add"}], ScriptedModel())


def test_an_image_makes_any_count_an_estimate(known: LiteLLMModel) -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 100_000}}
    message = {"role": "user", "content": [{"type": "text", "text": "Look."}, image, image]}
    assert count_message(message, known) == snapshot(TokenCount(n=3206, is_estimate=True))


def test_counts_add_up_to_an_estimate_if_one_is() -> None:
    assert TokenCount(n=1) + TokenCount(n=2, is_estimate=True) == TokenCount(n=3, is_estimate=True)


def test_no_tools_are_no_tokens() -> None:
    assert count_tools([], ScriptedModel()) == TokenCount(n=0)


# -- LiteLLM's tokenizers ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "model_id", ["openai/gpt-4.1", "openai/gpt-5.4-mini", "azure/gpt-4o", "groq/openai/gpt-oss-120b"]
)
def test_tokenizer_is_known_of_openais_models_whoever_serves_them(model_id: str) -> None:
    assert LiteLLMModel(model_id).count_tokens("<|endoftext|> The quick brown fox") == snapshot(11)


@pytest.mark.parametrize(
    "model_id",
    [
        "openai/tiny",
        "anthropic/claude-sonnet-4-5",
        "gemini/gemini-flash-latest",
        "deepseek/deepseek-chat",
        "replicate/meta/llama-3-8b",
    ],
)
def test_tokenizer_that_is_not_the_models_own_is_not_used(model_id: str) -> None:
    assert LiteLLMModel(model_id).count_tokens("The quick brown fox") is None


def test_long_text_is_counted_in_pieces_and_text_that_cannot_be_is_not(known: LiteLLMModel) -> None:
    whole = known.count_tokens("one two three four " * 20_000)
    assert whole is not None
    assert 80_000 <= whole <= 80_005
    assert known.count_tokens(" " * 400_000) in (None, *range(1, 400_000))
