"""Ordinary code for work with data, as models write it; the guard has to let it pass, and it has to run.

Each block is one step's code, run in a notebook that holds `build_namespace()`. The snippets are varied on
purpose and none is there for a rule's sake.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd

PRICES = {"pen": 2.5, "cup": 4.0}


class Answered(BaseException):
    """What `final_answer` raises here."""


def lookup(key: str) -> float:
    """A tool."""
    return PRICES[key]


lookup.__module__ = "__main__"  # as a function of a notebook's cell


def final_answer(value: object) -> None:
    """Ends the step."""
    del value
    raise Answered


def build_namespace(folder: Path) -> dict[str, object]:
    """What stands in the notebook before a step: frames, a series, a text, the path of a small file, a tool."""
    path = folder / "small.csv"
    path.write_text("name,n\na,1\nb,2\nc,3\n")
    days = pd.date_range("2024-01-01", periods=24, freq="5D")
    sales = pd.DataFrame(
        {
            "date": days,
            "region": ["north", "south", "east"] * 8,
            "product": ["pen", "book", "cup", "pen"] * 6,
            "customer_id": [1, 2, 3, 4, 5, 9] * 4,
            "quantity": [1, 2, 3, 4, 5, 6, 7, 8] * 3,
            "amount": [round(50 + 40 * math.sin(n) + 5 * n, 2) for n in range(24)],
        }
    )
    customers = pd.DataFrame(
        {
            "customer_id": [1, 2, 3, 4, 5],
            "name": [" ann lee", "bob ray ", "cy poe", "dee fox", "eli moe"],
            "age": [23.0, 51.0, np.nan, 67.0, 35.0],
        }
    )
    temps = pd.Series(
        [round(10 + 8 * math.sin(n / 4), 1) for n in range(40)], index=pd.date_range("2024-03-01", periods=40)
    )
    document = "The quick brown fox jumps over the lazy dog. The dog sleeps! A fox is quick and clever."
    return {
        "pd": pd,
        "np": np,
        "sales": sales,
        "customers": customers,
        "temps": temps,
        "document": document,
        "path": str(path),
        "lookup": lookup,
        "final_answer": final_answer,
    }


def to_snippets(text: str) -> list[str]:
    """The blocks of a text, which stand between lines of dashes."""
    return [block.strip("\n") for block in text.split("\n# ---\n")]


_PANDAS = r"""
totals = sales.groupby("region")["amount"].sum().sort_values(ascending=False)
print(totals)
best = totals.index[0]
best
# ---
monthly = (
    sales.assign(month=sales["date"].dt.to_period("M"))
    .groupby("month", as_index=False)
    .agg(total=("amount", "sum"), n=("amount", "size"), mean=("amount", "mean"))
)
print(monthly.round(2).to_string(index=False))
# ---
pivot = sales.pivot_table(index="region", columns="product", values="amount", aggfunc="sum", fill_value=0)
share = pivot.div(pivot.sum(axis=1), axis=0)
print(share.style is not None)
share.round(3)
# ---
merged = sales.merge(customers, on="customer_id", how="left", validate="many_to_one", indicator=True)
unmatched = merged.loc[merged["_merge"] == "left_only", "customer_id"].unique()
print(f"{len(merged)} rows, {len(unmatched)} without a customer: {list(unmatched)}")
# ---
clean = sales.copy()
clean["amount"] = pd.to_numeric(clean["amount"], errors="coerce")
clean = clean.dropna(subset=["amount"]).drop_duplicates().reset_index(drop=True)
clean.loc[clean["amount"] < 0, "amount"] = 0
print(clean.shape, clean["amount"].describe())
# ---
q1, q3 = sales["amount"].quantile([0.25, 0.75])
iqr = q3 - q1
mask = sales["amount"].between(q1 - 1.5 * iqr, q3 + 1.5 * iqr)
outliers = sales[~mask]
print(f"{len(outliers)} outliers of {len(sales)}")
# ---
long = pd.DataFrame({"id": [1, 2], "jan": [3, 4], "feb": [5, 6]}).melt(id_vars="id", var_name="month", value_name="value")
wide = long.pivot(index="id", columns="month", values="value")
assert wide.loc[2, "feb"] == 6
print(long.head())
# ---
daily = sales.set_index("date")["amount"].resample("D").sum()
rolling = daily.rolling(7, min_periods=1).mean()
change = daily.pct_change().replace([np.inf, -np.inf], np.nan).fillna(0)
print(rolling.tail(3), change.abs().max())
# ---
for region, part in sales.groupby("region"):
    top = part.nlargest(2, "amount")
    print(region, top[["product", "amount"]].values.tolist())
# ---
sales["amount"].value_counts(bins=4, sort=False)
# ---
def zscore(column):
    return (column - column.mean()) / column.std(ddof=0)

scored = sales.assign(z=sales.groupby("region")["amount"].transform(zscore))
print(scored["z"].abs().max().round(3))
# ---
corr = sales[["amount", "quantity"]].corr(method="spearman")
strongest = corr.where(~np.eye(len(corr), dtype=bool)).stack().idxmax()
print("most correlated:", strongest)
# ---
labels = ["low", "mid", "high"]
banded = sales.assign(band=pd.cut(sales["amount"], bins=3, labels=labels))
print(pd.crosstab(banded["region"], banded["band"], margins=True))
# ---
ranked = sales.sort_values(["region", "amount"], ascending=[True, False])
ranked["rank"] = ranked.groupby("region").cumcount() + 1
print(ranked.query("rank <= 2")[["region", "product", "rank"]])
# ---
missing = customers.isna().sum()
missing = missing[missing > 0]
if missing.empty:
    print("nothing is missing")
else:
    for column, n in missing.items():
        print(f"{column}: {n} missing ({n / len(customers):.0%})")
# ---
filled = customers.assign(age=customers["age"].fillna(customers["age"].median()))
filled["senior"] = np.where(filled["age"] >= 50, "yes", "no")
filled.groupby("senior")["age"].agg(["min", "max", "count"])
# ---
dates = pd.date_range("2024-01-01", periods=10, freq="B")
frame = pd.DataFrame({"price": np.linspace(10, 19, 10)}, index=dates)
frame["return"] = np.log(frame["price"]).diff()
weekly = frame["price"].resample("W").ohlc()
print(weekly)
# ---
idx = pd.MultiIndex.from_product([["a", "b"], [1, 2]], names=["letter", "number"])
s = pd.Series(range(4), index=idx, name="value")
print(s.unstack("number"))
print(s.xs("a", level="letter").to_dict())
# ---
text = customers["name"].str.strip().str.title()
parts = text.str.split(" ", n=1, expand=True)
initials = text.str.extract(r"^(?P<first>\w)")
print(initials["first"].value_counts().head(3))
# ---
frames = [pd.DataFrame({"k": [n], "v": [n ** 2]}) for n in range(5)]
stacked = pd.concat(frames, ignore_index=True)
stacked["cum"] = stacked["v"].cumsum()
stacked
# ---
records = sales.head(3).to_dict(orient="records")
for record in records:
    print({key: str(value) for key, value in record.items()})
# ---
per_customer = sales.groupby("customer_id").agg(
    first=("date", "min"),
    last=("date", "max"),
    spent=("amount", "sum"),
)
per_customer["days"] = (per_customer["last"] - per_customer["first"]).dt.days
print(per_customer.nlargest(3, "spent"))
# ---
try:
    sales.loc[:, "nonexistent"]
except KeyError as error:
    print("no such column:", error)
    print("there are:", sorted(sales.columns))
# ---
numeric = sales.select_dtypes("number")
summary = pd.concat([numeric.mean().rename("mean"), numeric.std().rename("sd"), numeric.skew().rename("skew")], axis=1)
print(summary.T)
# ---
sample = sales.sample(frac=0.5, random_state=42)
rest = sales.drop(sample.index)
print(len(sample), len(rest), sample["amount"].mean() - rest["amount"].mean())
# ---
exploded = pd.DataFrame({"id": [1, 2], "tags": ["a;b", "c"]})
exploded["tags"] = exploded["tags"].str.split(";")
exploded = exploded.explode("tags", ignore_index=True)
dummies = pd.get_dummies(exploded["tags"], prefix="tag", dtype=int)
print(exploded.join(dummies))
# ---
def top_n(group, n=1):
    return group.nlargest(n, "amount")

best_rows = pd.concat([top_n(group, n=2) for _, group in sales.groupby("product")])
print(best_rows[["product", "amount"]])
# ---
sales.describe(include="all").T
# ---
mapping = {"north": "N", "south": "S"}
codes = sales["region"].map(mapping).fillna("?")
counts = codes.value_counts(normalize=True).mul(100).round(1)
print(counts.to_dict())
# ---
left = pd.DataFrame({"t": pd.to_datetime(["2024-01-01 10:00", "2024-01-01 10:05"]), "x": [1, 2]})
right = pd.DataFrame({"t": pd.to_datetime(["2024-01-01 09:59", "2024-01-01 10:03"]), "y": [7, 8]})
joined = pd.merge_asof(left, right, on="t", direction="backward")
joined["gap"] = joined["y"] - joined["x"]
final_answer(int(joined["gap"].sum()))
# ---
cat = sales["product"].astype("category")
print(cat.cat.categories.tolist(), cat.cat.codes.max())
reordered = cat.cat.reorder_categories(sorted(cat.cat.categories, reverse=True), ordered=True)
print(reordered.min())
# ---
with pd.option_context("display.max_rows", 5, "display.precision", 2):
    print(sales)
# ---
pd.options.display.max_columns = 20
print(sales.columns.tolist())
# ---
shifted = sales.sort_values("date").assign(previous=lambda d: d.groupby("region")["amount"].shift(1))
shifted["grew"] = shifted["amount"].gt(shifted["previous"])
shifted.groupby("region")["grew"].mean()
# ---
weights = sales["quantity"] / sales["quantity"].sum()
weighted = float((sales["amount"] * weights).sum())
plain = sales["amount"].mean()
print(f"weighted {weighted:.2f}, plain {plain:.2f}")
# ---
json_text = sales.head(2).to_json(orient="records", date_format="iso")
import io
back = pd.read_json(io.StringIO(json_text))
print(back.shape)
# ---
from io import StringIO
csv_text = "city,temp\nOslo,3\nRome,17\n"
cities = pd.read_csv(StringIO(csv_text), dtype={"temp": "float64"})
warmest = cities.loc[cities["temp"].idxmax(), "city"]
final_answer(warmest)
# ---
bins = [0, 30, 50, 120]
ages = pd.cut(customers["age"], bins=bins, right=False)
table = customers.groupby(ages, observed=True)["customer_id"].nunique()
print(table)
# ---
import pandas as pd
import numpy as np

rng = np.random.default_rng(0)
fake = pd.DataFrame({"x": rng.normal(size=50), "group": rng.choice(list("ab"), size=50)})
means = fake.groupby("group")["x"].mean()
print(means["a"] - means["b"])
# ---
ewm = temps.ewm(span=5).mean()
above = temps[temps > ewm].index
print(len(above), above[:2].tolist())
# ---
melted = sales.melt(id_vars=["region"], value_vars=["amount", "quantity"])
stats = melted.groupby(["region", "variable"])["value"].agg(lambda v: v.max() - v.min())
stats.unstack()
# ---
dupes = sales[sales.duplicated(subset=["customer_id", "date"], keep=False)]
if len(dupes):
    print(dupes.sort_values(["customer_id", "date"]))
else:
    print("no duplicates")
# ---
temps_frame = temps.to_frame("t")
temps_frame["weekday"] = temps_frame.index.day_name()
by_day = temps_frame.groupby("weekday", sort=False)["t"].mean()
hottest, coldest = by_day.idxmax(), by_day.idxmin()
print(hottest, coldest)
# ---
result = sales.groupby("region", group_keys=False)[["amount", "quantity"]].apply(
    lambda g: pd.Series({"revenue": g["amount"].sum(), "per_unit": g["amount"].sum() / g["quantity"].sum()})
)
result.sort_values("per_unit", ascending=False)
# ---
s = pd.Series([1, np.nan, 3, np.nan, 5])
filled_linear = s.interpolate()
filled_ffill = s.ffill()
print(filled_linear.equals(pd.Series([1.0, 2, 3, 4, 5])), filled_ffill.tolist())
# ---
n_rows, n_cols = sales.shape
memory = sales.memory_usage(deep=True).sum() / 1024
print(f"{n_rows} rows x {n_cols} columns, {memory:.1f} kB")
print(sales.dtypes.astype(str).to_dict())
# ---
periods = pd.period_range("2023Q1", "2024Q4", freq="Q")
plan = pd.Series(range(len(periods)), index=periods)
yearly = plan.groupby(plan.index.year).sum()
yearly.to_dict()
# ---
styled = sales.head(3).style.format({"amount": "{:.2f}"}).hide(axis="index")
html = styled.to_html() if hasattr(styled, "to_html") else ""
print("<table" in html)
# ---
cohorts = sales.assign(first=sales.groupby("customer_id")["date"].transform("min").dt.to_period("M"))
cohorts["age"] = (cohorts["date"].dt.to_period("M") - cohorts["first"]).map(lambda d: d.n)
print(cohorts.pivot_table(index="first", columns="age", values="customer_id", aggfunc="nunique"))
# ---
top_products = sales["product"].value_counts().head(2).index
subset = sales[sales["product"].isin(top_products)].eval("unit = amount / quantity")
print(subset["unit"].round(2).tolist())
# ---
tz = pd.to_datetime(["2024-03-30 12:00", "2024-03-31 12:00"]).tz_localize("UTC").tz_convert("Europe/Paris")
print([stamp.isoformat() for stamp in tz], (tz[1] - tz[0]).total_seconds())
"""

_NUMPY = r"""
matrix = np.arange(12).reshape(3, 4)
print(matrix.sum(axis=0), matrix.mean(axis=1), matrix[:, ::2])
# ---
a = np.array([[3.0, 1.0], [1.0, 2.0]])
b = np.array([9.0, 8.0])
x = np.linalg.solve(a, b)
assert np.allclose(a @ x, b)
x.tolist()
# ---
rng = np.random.default_rng(seed=1)
draws = rng.normal(loc=5, scale=2, size=(1000, 3))
low, high = np.percentile(draws, [2.5, 97.5])
print(f"95% of draws in [{low:.1f}, {high:.1f}]", draws.shape)
# ---
values, counts = np.unique(np.array(list("mississippi")), return_counts=True)
dict(zip(values.tolist(), counts.tolist()))
# ---
t = np.linspace(0, 1, 256, endpoint=False)
signal_ = np.sin(2 * np.pi * 5 * t) + 0.5 * np.sin(2 * np.pi * 20 * t)
spectrum = np.abs(np.fft.rfft(signal_))
peaks = np.argsort(spectrum)[-2:][::-1]
print("peaks at", sorted(int(p) for p in peaks))
# ---
grid_x, grid_y = np.meshgrid(np.arange(3), np.arange(2))
distance = np.sqrt(grid_x**2 + grid_y**2)
print(distance.round(2))
# ---
arr = np.arange(10)
mask = (arr % 2 == 0) & (arr > 3)
arr2 = np.where(mask, arr, -1)
print(arr2[mask], np.count_nonzero(mask))
# ---
u, s, vt = np.linalg.svd(np.random.default_rng(2).random((4, 3)), full_matrices=False)
approx = u[:, :2] * s[:2] @ vt[:2]
print(approx.shape, np.round(s / s.sum(), 2))
# ---
coefficients = np.polyfit([0, 1, 2, 3], [1, 3, 5, 7], deg=1)
slope, intercept = coefficients
print(f"y = {slope:.2f} x + {intercept:.2f}")
# ---
points = np.array([[0, 0], [3, 4], [6, 8]], dtype=float)
diff = points[:, None, :] - points[None, :, :]
pairwise = np.sqrt((diff**2).sum(-1))
i, j = np.unravel_index(pairwise.argmax(), pairwise.shape)
print(i, j, pairwise[i, j])
# ---
img = np.zeros((8, 8), dtype=np.uint8)
img[2:6, 2:6] = 255
edges = np.abs(np.diff(img.astype(int), axis=1)).sum()
print(img.mean(), edges)
# ---
window = np.ones(3) / 3
smooth = np.convolve([1, 2, 6, 2, 1], window, mode="valid")
np.round(smooth, 2)
# ---
structured = np.array([("a", 1.5), ("b", 2.5)], dtype=[("name", "U1"), ("value", "f8")])
print(structured["value"].sum(), structured[structured["name"] == "b"])
# ---
with np.errstate(divide="ignore", invalid="ignore"):
    ratio = np.array([1.0, 0.0, 2.0]) / np.array([0.0, 0.0, 4.0])
finite = ratio[np.isfinite(ratio)]
print(finite)
# ---
samples = np.random.default_rng(3).exponential(2.0, 500)
boot = np.array([np.random.default_rng(k).choice(samples, samples.size).mean() for k in range(50)])
print(np.quantile(boot, [0.05, 0.95]).round(2))
# ---
cov = np.cov(np.vstack([np.arange(10), np.arange(10) ** 2]))
eigenvalues, eigenvectors = np.linalg.eigh(cov)
explained = eigenvalues[::-1] / eigenvalues.sum()
print(explained.round(4))
# ---
out = np.empty((3, 2))
for row in range(3):
    out[row] = row, row**2
print(np.column_stack([out, out.sum(axis=1)]))
# ---
days = np.arange("2024-02", "2024-03", dtype="datetime64[D]")
weekdays = np.is_busday(days)
print(len(days), int(weekdays.sum()), np.busday_count("2024-02-01", "2024-03-01"))
# ---
vectorized = np.vectorize(lambda n: "fizz" if n % 3 == 0 else str(n), otypes=[object])
" ".join(vectorized(np.arange(1, 7)))
# ---
transition = np.array([[0.9, 0.1], [0.5, 0.5]])
state = np.array([1.0, 0.0])
for _ in range(50):
    state = state @ transition
print(state.round(4))
# ---
order = np.lexsort((np.array([2, 1, 3]), np.array(["b", "b", "a"])))
order.tolist()
# ---
a = np.random.default_rng(4).integers(0, 10, (5, 5))
rows, cols = np.nonzero(a == a.max())
print(a.max(), list(zip(rows.tolist(), cols.tolist())), np.trace(a))
# ---
masked = np.ma.masked_less(np.array([3, -1, 5]), 0)
print(masked.mean(), masked.count(), np.__version__.split(".")[0].isdigit())
# ---
x = np.linspace(-3, 3, 61)
y = np.exp(-x**2 / 2) / np.sqrt(2 * np.pi)
area = np.trapezoid(y, x)
print(round(float(area), 3))
"""

_MATPLOTLIB = r"""
import matplotlib.pyplot as plt
fig, ax = plt.subplots(figsize=(4, 3))
ax.plot([1, 2, 3], [2, 4, 1], marker="o", label="demo")
ax.set(title="Demo", xlabel="x", ylabel="y")
ax.legend()
fig.tight_layout()
plt.close(fig)
# ---
import matplotlib.pyplot as plt
fig, axes = plt.subplots(2, 2, sharex=True)
for ax, region in zip(axes.flat, sales["region"].unique()):
    sales.loc[sales["region"] == region, "amount"].plot.hist(ax=ax, bins=5, title=region)
plt.close("all")
# ---
import matplotlib.pyplot as plt
totals = sales.groupby("product")["amount"].sum()
fig, ax = plt.subplots()
bars = ax.bar(totals.index, totals.values, color="tab:blue")
ax.bar_label(bars, fmt="%.0f")
ax.spines[["top", "right"]].set_visible(False)
print(len(ax.patches))
plt.close(fig)
# ---
import matplotlib.pyplot as plt
import matplotlib.dates as mdates
fig, ax = plt.subplots()
ax.plot(temps.index, temps.values)
ax.xaxis.set_major_formatter(mdates.DateFormatter("%d.%m."))
fig.autofmt_xdate()
print(ax.get_xlim()[0] < ax.get_xlim()[1])
plt.close(fig)
# ---
import matplotlib.pyplot as plt
plt.rcParams["axes.grid"] = True
plt.scatter(sales["quantity"], sales["amount"], c=sales["amount"], cmap="viridis", alpha=0.6)
plt.colorbar(label="amount")
plt.title(f"n = {len(sales)}")
plt.close()
# ---
from matplotlib import pyplot as plt
from matplotlib.ticker import FuncFormatter
fig, ax = plt.subplots()
ax.fill_between(range(5), [1, 2, 3, 2, 1], alpha=0.3)
ax.axhline(2, ls="--", color="k", lw=1)
ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.1f}"))
plt.close(fig)
# ---
import matplotlib.pyplot as plt
data = [sales.loc[sales["region"] == r, "amount"] for r in sorted(sales["region"].unique())]
fig, ax = plt.subplots()
parts = ax.boxplot(data, showmeans=True)
print(sorted(parts)[:2])
plt.close(fig)
# ---
import matplotlib.pyplot as plt
with plt.style.context("ggplot"):
    fig = plt.figure(figsize=(3, 3))
    ax = fig.add_subplot(projection="polar")
    theta = np.linspace(0, 2 * np.pi, 50)
    ax.plot(theta, 1 + np.cos(theta))
plt.close(fig)
# ---
import matplotlib.pyplot as plt
corr = sales[["amount", "quantity"]].corr()
fig, ax = plt.subplots()
im = ax.imshow(corr, vmin=-1, vmax=1, cmap="coolwarm")
for i in range(len(corr)):
    for j in range(len(corr)):
        ax.text(j, i, f"{corr.iloc[i, j]:.2f}", ha="center")
fig.colorbar(im)
plt.close(fig)
# ---
import io
import matplotlib.pyplot as plt
buffer = io.BytesIO()
fig, ax = plt.subplots()
ax.pie([1, 2, 3], labels=list("abc"), autopct="%1.0f%%")
fig.savefig(buffer, format="png", dpi=50)
plt.close(fig)
print(buffer.getvalue()[:4])
# ---
import matplotlib.pyplot as plt
fig, ax = plt.subplots()
ax.annotate("peak", xy=(2, 4), xytext=(2.5, 3), arrowprops={"arrowstyle": "->"})
twin = ax.twinx()
twin.step([0, 1, 2], [5, 6, 4], where="mid")
plt.close(fig)
# ---
import matplotlib.pyplot as plt
from matplotlib.patches import Rectangle
fig, ax = plt.subplots()
ax.add_patch(Rectangle((0.1, 0.1), 0.5, 0.3, fill=False))
ax.set_aspect("equal")
handles, names = ax.get_legend_handles_labels()
print(len(handles))
plt.close(fig)
# ---
import matplotlib.pyplot as plt
monthly = sales.groupby(sales["date"].dt.month)["amount"].sum()
ax = monthly.plot(kind="line", style="-o", figsize=(4, 2))
ax.set_xticks(monthly.index)
figure = ax.get_figure()
plt.close(figure)
# ---
import matplotlib.pyplot as plt
stacked = sales.pivot_table(index="region", columns="product", values="amount", aggfunc="sum").fillna(0)
ax = stacked.plot.barh(stacked=True)
ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
print([tick.get_text() for tick in ax.get_yticklabels()])
plt.close("all")
"""

_TEXT_AND_JSON = r"""
import re
log = "2024-01-05 ERROR disk full\n2024-01-06 INFO ok\n2024-01-07 ERROR timeout"
pattern = re.compile(r"^(?P<day>[\d-]+) (?P<level>[A-Z]+) (?P<message>.+)$", re.MULTILINE)
errors = [m.groupdict() for m in pattern.finditer(log) if m["level"] == "ERROR"]
for error in errors:
    print(error["day"], "->", error["message"])
# ---
import re
emails = re.findall(r"[\w.+-]+@[\w-]+\.[\w.]+", "write to ann@example.org or bob.b@mail.example.com")
domains = {address.split("@")[1] for address in emails}
print(sorted(domains))
# ---
import re
def normalise(text):
    text = re.sub(r"\s+", " ", text.strip())
    return re.sub(r"(?<=\d),(?=\d{3})", "", text)

assert normalise("  1,234   apples ") == "1234 apples"
print(normalise("a\t b\n c"))
# ---
import re
tokens = re.split(r"[^\w']+", document.lower())
from collections import Counter
common = Counter(t for t in tokens if len(t) > 3).most_common(3)
print(common)
# ---
import re
masked = re.sub(r"\b(\d{3})-(\d{4})\b", lambda m: f"{m[1]}-{'x' * len(m[2])}", "call 555-1234 or 555-9876")
masked
# ---
import json
payload = json.loads('{"items": [{"id": 1, "tags": ["x", "y"]}, {"id": 2, "tags": []}], "next": null}')
tagged = {item["id"]: len(item["tags"]) for item in payload["items"] if item["tags"]}
print(json.dumps(tagged, indent=2, sort_keys=True), payload.get("next") is None)
# ---
import json
lines = ['{"a": 1}', "not json", '{"a": 3}']
good, bad = [], []
for number, line in enumerate(lines, start=1):
    try:
        good.append(json.loads(line))
    except json.JSONDecodeError as error:
        bad.append((number, error.msg))
print(good, bad)
# ---
import json
from datetime import date
class Encoder(json.JSONEncoder):
    def default(self, o):
        if isinstance(o, date):
            return o.isoformat()
        return super().default(o)

print(json.dumps({"when": date(2024, 5, 1), "ok": True}, cls=Encoder))
# ---
import json
def flatten(value, prefix=""):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from flatten(inner, f"{prefix}{key}.")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from flatten(inner, f"{prefix}{index}.")
    else:
        yield prefix.rstrip("."), value

flat = dict(flatten(json.loads('{"a": {"b": [1, {"c": 2}]}, "d": "x"}')))
flat
# ---
import json
nested = {"users": [{"name": "Ann", "address": {"city": "Oslo"}}, {"name": "Bob", "address": {"city": "Rome"}}]}
table = pd.json_normalize(nested["users"])
print(table.columns.tolist(), json.dumps(nested).count("name"))
# ---
words = document.split()
longest = max(words, key=len)
average = sum(map(len, words)) / len(words)
print(f"{len(words)} words, longest {longest!r}, average length {average:.1f}")
# ---
import textwrap
import string
wrapped = textwrap.fill(document, width=40, initial_indent="* ", subsequent_indent="  ")
letters = sum(character in string.ascii_letters for character in document)
print(wrapped)
print(letters)
# ---
template = "{name:<10}|{amount:>8,.2f}|{share:6.1%}"
for name, amount, share in [("north", 1234.5, 0.62), ("south", 755.25, 0.38)]:
    print(template.format(name=name, amount=amount, share=share))
# ---
rows = [("apple", 3, 0.5), ("banana", 12, 0.25)]
width = max(len(row[0]) for row in rows)
header = f"{'item':{width}} {'n':>4} {'price':>7}"
print(header, "-" * len(header), sep="\n")
for item, n, price in rows:
    print(f"{item:{width}} {n:>4d} {price:>7.2f}")
# ---
import difflib
known = ["Oslo", "Rome", "Paris", "London"]
fixed = {typo: (difflib.get_close_matches(typo, known, n=1) or [None])[0] for typo in ("Olso", "Pariss", "Xyz")}
print(fixed)
# ---
import unicodedata
def ascii_fold(text):
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(ch for ch in decomposed if not unicodedata.combining(ch))

print([ascii_fold(word) for word in ("café", "naïve", "Zürich")])
# ---
from string import Template
letter = Template("Dear $name, you owe $$${amount}.")
print(letter.substitute(name="Ann", amount=12), letter.safe_substitute(name="Bob"))
# ---
caesar = str.maketrans("abcdefghijklmnopqrstuvwxyz", "defghijklmnopqrstuvwxyzabc")
secret = "attack at dawn".translate(caesar)
print(secret, secret[::-1])
# ---
vowels = {v: document.lower().count(v) for v in "aeiou"}
bar = "\n".join(f"{v} {'#' * (n // 2)}" for v, n in sorted(vowels.items(), key=lambda kv: -kv[1]))
print(bar)
# ---
import csv, io
reader = csv.DictReader(io.StringIO("name;score\nAnn;3\nBob;5\n"), delimiter=";")
scores = {row["name"]: int(row["score"]) for row in reader}
print(max(scores, key=scores.get))
# ---
import csv
import io
buffer = io.StringIO()
writer = csv.writer(buffer, quoting=csv.QUOTE_MINIMAL)
writer.writerow(["city", "note"])
writer.writerows([["Oslo", "cold, dark"], ["Rome", 'says "ciao"']])
print(buffer.getvalue())
# ---
import xml.etree.ElementTree as ET
root = ET.fromstring("<shop><item price='3'>pen</item><item price='5'>book</item></shop>")
prices = {item.text: float(item.get("price")) for item in root.iter("item")}
prices
# ---
import html
from html.parser import HTMLParser
class Links(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []
    def handle_starttag(self, tag, attrs):
        if tag == "a":
            self.found.append(dict(attrs).get("href"))

links = Links()
links.feed('<p><a href="/a">A</a> &amp; <a href="/b">B</a></p>')
print(links.found, html.unescape("&lt;b&gt;"))
# ---
from urllib.parse import urlparse, parse_qs, urlencode, urljoin
parsed = urlparse("https://example.org/search?q=data&page=2")
query = parse_qs(parsed.query)
print(parsed.netloc, query["page"][0], urlencode({"q": "a b"}), urljoin("https://example.org/a/", "b"))
# ---
import base64, hashlib, zlib
raw = document.encode("utf-8")
packed = base64.b64encode(zlib.compress(raw)).decode()
assert zlib.decompress(base64.b64decode(packed)) == raw
print(hashlib.sha256(raw).hexdigest()[:12], len(packed) < len(raw) * 2)
# ---
import tomllib
settings = tomllib.loads('title = "x"\n[limits]\nmax = 3\n')
print(settings["limits"]["max"] + 1)
# ---
import configparser
parser = configparser.ConfigParser()
parser.read_string("[server]\nport = 8080\ndebug = yes\n")
port = parser.getint("server", "port")
print(port, parser["server"].getboolean("debug"))
# ---
import shlex
import fnmatch
args = shlex.split("plot 'my file.csv' --size 3")
matching = fnmatch.filter(["a.csv", "b.txt", "c.csv"], "*.csv")
print(args, matching)
# ---
sentences = [s.strip() for s in document.replace("!", ".").split(".") if s.strip()]
by_length = sorted(sentences, key=lambda s: (len(s.split()), s))
for number, sentence in enumerate(by_length, 1):
    print(f"{number:>2}. {sentence}")
# ---
def is_palindrome(text):
    letters = [c.casefold() for c in text if c.isalnum()]
    return letters == letters[::-1]

checks = {t: is_palindrome(t) for t in ("A man, a plan, a canal: Panama", "data")}
final_answer(checks)
# ---
ngrams = list(zip(*(words_[k:] for k in range(2) for words_ in [document.lower().split()])))
from collections import Counter
print(Counter(ngrams).most_common(2))
# ---
import re
price_text = "Total: EUR 1.234,50 (incl. 19% VAT)"
if (found := re.search(r"([\d.]+),(\d{2})", price_text)) is not None:
    value = float(found[1].replace(".", "") + "." + found[2])
    print(f"{value:.2f}")
# ---
encoded = "naïve".encode("latin-1")
try:
    encoded.decode("utf-8")
except UnicodeDecodeError as error:
    print(error.reason, error.start)
    print(encoded.decode("latin-1"))
"""

_DATES = r"""
from datetime import datetime, timedelta, timezone
now = datetime(2024, 2, 28, 23, 30, tzinfo=timezone.utc)
later = now + timedelta(hours=1)
print(later.date().isoformat(), (later - now).total_seconds() / 60)
# ---
from datetime import date
import calendar
birthday = date(1990, 5, 17)
today = date(2024, 5, 16)
age = today.year - birthday.year - ((today.month, today.day) < (birthday.month, birthday.day))
print(age, calendar.day_name[birthday.weekday()], calendar.isleap(today.year))
# ---
import datetime as dt
from zoneinfo import ZoneInfo
meeting = dt.datetime(2024, 7, 1, 15, 0, tzinfo=ZoneInfo("Europe/Berlin"))
for city in ("America/New_York", "Asia/Tokyo"):
    print(city, meeting.astimezone(ZoneInfo(city)).strftime("%a %H:%M"))
# ---
from datetime import datetime
raw = ["05/01/2024", "2024-01-06", "7 Jan 2024", "soon"]
formats = ("%d/%m/%Y", "%Y-%m-%d", "%d %b %Y")
def parse(text):
    for form in formats:
        try:
            return datetime.strptime(text, form).date()
        except ValueError:
            continue
    return None
print([parse(text) for text in raw])
# ---
import calendar
weeks = calendar.monthcalendar(2024, 2)
fridays = [week[calendar.FRIDAY] for week in weeks if week[calendar.FRIDAY]]
print(fridays, calendar.monthrange(2024, 2)[1])
# ---
from datetime import date, timedelta
def workdays(start, end):
    day = start
    while day <= end:
        if day.weekday() < 5:
            yield day
        day += timedelta(days=1)

print(sum(1 for _ in workdays(date(2024, 1, 1), date(2024, 1, 31))))
# ---
import time
started = time.perf_counter()
squares = [n * n for n in range(10_000)]
elapsed = time.perf_counter() - started
print(f"{len(squares)} squares in {elapsed * 1000:.1f} ms")
# ---
events = [("09:00", "open"), ("17:30", "close"), ("12:15", "lunch")]
minutes = {name: int(t[:2]) * 60 + int(t[3:]) for t, name in events}
span = minutes["close"] - minutes["open"]
print(f"{span // 60} h {span % 60} min", sorted(minutes, key=minutes.__getitem__))
# ---
gaps = sales["date"].sort_values().diff().dropna()
longest_gap = gaps.max()
print(longest_gap.days, gaps.dt.days.value_counts().to_dict())
# ---
from datetime import datetime
stamps = [1_700_000_000, 1_700_086_400]
iso = [datetime.fromtimestamp(s, tz=None).date().toordinal() for s in stamps]
print(iso[1] - iso[0])
# ---
quarter = ((sales["date"].dt.month - 1) // 3 + 1).map("Q{}".format)
sales.groupby(quarter)["amount"].sum()
# ---
lagged = pd.concat({f"lag_{k}": temps.shift(k) for k in range(3)}, axis=1).dropna()
print(lagged.corr().iloc[0].round(3).to_dict())
# ---
season = temps.groupby(temps.index.dayofweek).transform("mean")
residual = temps - season
trend = residual.rolling(5, center=True).mean()
print(residual.std().round(3), trend.notna().sum())
# ---
business = pd.bdate_range("2024-12-20", "2025-01-05")
holidays = pd.to_datetime(["2024-12-25", "2025-01-01"])
open_days = business.difference(holidays)
final_answer(len(open_days))
"""

_ITERTOOLS_AND_FUNCTOOLS = r'''
from itertools import groupby, chain
rows = sorted([("b", 2), ("a", 1), ("b", 5)], key=lambda r: r[0])
grouped = {key: [n for _, n in items] for key, items in groupby(rows, key=lambda r: r[0])}
print(grouped, list(chain.from_iterable(grouped.values())))
# ---
import itertools
pairs = list(itertools.combinations("abcd", 2))
best = max(pairs, key=lambda p: ord(p[0]) * ord(p[1]))
print(len(pairs), best, list(itertools.accumulate([1, 2, 3, 4])))
# ---
from itertools import product, islice, count
grid = [(x, y) for x, y in product(range(3), repeat=2) if x <= y]
evens = list(islice((n for n in count() if n % 2 == 0), 5))
print(grid, evens)
# ---
from itertools import pairwise, zip_longest, takewhile
steps = [b - a for a, b in pairwise([1, 4, 9, 16])]
padded = list(zip_longest("ab", [1, 2, 3], fillvalue="-"))
print(steps, padded, list(takewhile(lambda n: n < 7, steps)))
# ---
from functools import reduce, partial
import operator
product_of = partial(reduce, operator.mul)
print(product_of([1, 2, 3, 4]), reduce(lambda a, b: a | b, [{1}, {2}, {3}]))
# ---
from functools import lru_cache
@lru_cache(maxsize=None)
def ways(amount, coins=(1, 5, 10, 25)):
    if amount == 0:
        return 1
    if amount < 0 or not coins:
        return 0
    return ways(amount - coins[-1], coins) + ways(amount, coins[:-1])

print(ways(100), ways.cache_info().hits > 0)
# ---
from functools import cached_property, total_ordering
@total_ordering
class Version:
    def __init__(self, text):
        self.parts = tuple(int(p) for p in text.split("."))
    def __eq__(self, other):
        return self.parts == other.parts
    def __lt__(self, other):
        return self.parts < other.parts
    @cached_property
    def major(self):
        return self.parts[0]

print(max([Version("1.10"), Version("1.9")]).parts, Version("2.0") >= Version("1.0"), Version("3.1").major)
# ---
from functools import singledispatch
@singledispatch
def describe(value):
    return f"something: {value}"
@describe.register
def _(value: int):
    return f"int {value:+d}"
@describe.register(list)
def _(value):
    return f"list of {len(value)}"

print(describe(3), describe([1, 2]), describe("x"))
# ---
from operator import itemgetter, attrgetter, methodcaller
people = [{"name": "Bob", "age": 30}, {"name": "Ann", "age": 25}]
print([p["name"] for p in sorted(people, key=itemgetter("age", "name"))])
print(sorted([3 + 1j, 1 + 2j], key=attrgetter("imag")), list(map(methodcaller("upper"), "ab")))
# ---
def batched(iterable, n):
    import itertools
    iterator = iter(iterable)
    while batch := tuple(itertools.islice(iterator, n)):
        yield batch

print(list(batched(range(7), 3)))
# ---
from functools import wraps
import time
def timed(function):
    @wraps(function)
    def wrapper(*args, **kwargs):
        started = time.perf_counter()
        try:
            return function(*args, **kwargs)
        finally:
            wrapper.calls.append(time.perf_counter() - started)
    wrapper.calls = []
    return wrapper

@timed
def slow_sum(n):
    """Adds numbers."""
    return sum(range(n))

print(slow_sum(1000), len(slow_sum.calls), slow_sum.__name__, slow_sum.__doc__)
# ---
from functools import wraps
def retry(times, errors=(ValueError,)):
    def decorate(function):
        @wraps(function)
        def wrapper(*args, **kwargs):
            for attempt in range(1, times + 1):
                try:
                    return function(*args, **kwargs)
                except errors:
                    if attempt == times:
                        raise
        return wrapper
    return decorate

attempts = []
@retry(3)
def flaky():
    attempts.append(1)
    if len(attempts) < 3:
        raise ValueError("not yet")
    return "done"
print(flaky(), len(attempts))
# ---
compose = lambda *fs: lambda x: [x := f(x) for f in fs][-1]
print(compose(str.strip, str.title, len)("  ann lee "))
# ---
from itertools import permutations
cities = {"A": (0, 0), "B": (3, 0), "C": (3, 4), "D": (0, 4)}
def length(route):
    hops = zip(route, route[1:] + route[:1])
    return sum(((cities[a][0] - cities[b][0]) ** 2 + (cities[a][1] - cities[b][1]) ** 2) ** 0.5 for a, b in hops)
shortest = min(permutations(cities), key=length)
print(shortest, length(shortest))
'''

_COLLECTIONS = r"""
from collections import defaultdict
graph = defaultdict(list)
for a, b in [("x", "y"), ("y", "z"), ("x", "z")]:
    graph[a].append(b)
    graph[b].append(a)
degree = {node: len(neighbours) for node, neighbours in graph.items()}
print(dict(graph), max(degree, key=degree.get))
# ---
from collections import deque
def shortest_path(graph, start, goal):
    queue, seen = deque([[start]]), {start}
    while queue:
        path = queue.popleft()
        if path[-1] == goal:
            return path
        for node in graph.get(path[-1], ()):
            if node not in seen:
                seen.add(node)
                queue.append([*path, node])
    return None
print(shortest_path({"a": ["b", "c"], "b": ["d"], "c": ["d"], "d": []}, "a", "d"))
# ---
from collections import Counter
first, second = Counter("abracadabra"), Counter("alabama")
print(first - second, first & second, (first + second).most_common(2), first.total())
# ---
from collections import namedtuple, OrderedDict
Point = namedtuple("Point", "x y", defaults=[0])
p = Point(3)._replace(y=4)
print(p._asdict(), Point._fields, p == (3, 4), list(OrderedDict(a=1, b=2)))
# ---
from collections import ChainMap
defaults, chosen = {"colour": "red", "size": 3}, {"size": 5}
settings = ChainMap(chosen, defaults)
print(settings["size"], settings["colour"], dict(settings))
# ---
inventory = {}
for item, n in [("pen", 3), ("book", 1), ("pen", 2)]:
    inventory[item] = inventory.get(item, 0) + n
inventory |= {"cup": 4}
for item in sorted(inventory, key=inventory.get, reverse=True):
    print(item, inventory[item])
# ---
matrix = [[1, 2, 3], [4, 5, 6]]
transposed = [list(column) for column in zip(*matrix)]
flat = [cell for row in matrix for cell in row if cell % 2]
print(transposed, flat, {n: n**2 for n in flat})
# ---
a, b = {1, 2, 3}, {2, 3, 4}
print(a & b, a ^ b, a - b, a <= b, frozenset(a) | b)
# ---
first, *middle, last = [5, 1, 4, 2]
(x, y), z = (1, 2), 3
middle.sort()
print(first, middle, last, x + y + z)
# ---
import heapq
heap = []
for priority, job in [(3, "c"), (1, "a"), (2, "b")]:
    heapq.heappush(heap, (priority, job))
order = [heapq.heappop(heap)[1] for _ in range(len(heap))]
print(order, heapq.nlargest(2, [4, 9, 1]))
# ---
import bisect
grades = "FDCBA"
cutoffs = [60, 70, 80, 90]
print([grades[bisect.bisect(cutoffs, score)] for score in (33, 60, 77, 91, 100)])
# ---
nested = {"a": {"b": {"c": 42}}}
def dig(mapping, *keys, default=None):
    for key in keys:
        if not isinstance(mapping, dict) or key not in mapping:
            return default
        mapping = mapping[key]
    return mapping
print(dig(nested, "a", "b", "c"), dig(nested, "a", "x", default=0))
# ---
stack, output = [], []
precedence = {"+": 1, "-": 1, "*": 2, "/": 2}
for token in "3 + 4 * 2".split():
    if token.isdigit():
        output.append(token)
    else:
        while stack and precedence[stack[-1]] >= precedence[token]:
            output.append(stack.pop())
        stack.append(token)
output += reversed(stack)
print(" ".join(output))
# ---
import array
import struct
numbers_ = array.array("d", [1.5, 2.5])
packed = struct.pack(">2d", *numbers_)
print(len(packed), struct.unpack(">2d", packed) == tuple(numbers_))
# ---
import copy
original = {"rows": [[1, 2], [3]]}
shallow, deep = copy.copy(original), copy.deepcopy(original)
original["rows"][0].append(9)
print(shallow["rows"][0], deep["rows"][0])
# ---
from collections import UserDict
class Lower(UserDict):
    def __setitem__(self, key, value):
        super().__setitem__(key.lower(), value)
    def __missing__(self, key):
        return f"no {key}"
d = Lower(A=1)
d["B"] = 2
print(d.data, d["zzz"])
# ---
amounts = {(r["region"], r["product"]): r["amount"] for r in sales.to_dict("records")}
keys = [k for k in amounts if k[0] == "north"]
del amounts[keys[0]]
print(len(amounts), keys[0] in amounts)
# ---
import weakref
class Node:
    def __init__(self, name): self.name = name
node = Node("a")
ref = weakref.ref(node)
alive = ref() is node
del node
print(alive, ref() is None)
"""

_CLASSES = r"""
from dataclasses import dataclass, field, asdict, replace
@dataclass(order=True)
class Order:
    total: float = field(init=False)
    items: dict = field(default_factory=dict, compare=False)
    def __post_init__(self):
        self.total = sum(self.items.values())
orders_ = [Order({"pen": 2.5, "cup": 4}), Order({"book": 20})]
print(max(orders_).total, asdict(orders_[0]))
# ---
from dataclasses import dataclass, fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    sensor: str
    value: float
    unit: str = "C"
    def to_kelvin(self):
        return self.value + 273.15
    def __post_init__(self):
        object.__setattr__(self, "sensor", self.sensor.upper())
r = Reading(sensor="s1", value=20)
print(r, r.to_kelvin(), [f.name for f in fields(r)])
# ---
class Account:
    interest = 0.02
    def __init__(self, owner, balance=0):
        self.owner, self._balance = owner, balance
    @property
    def balance(self):
        return self._balance
    @balance.setter
    def balance(self, value):
        if value < 0:
            raise ValueError("no overdraft")
        self._balance = value
    @classmethod
    def of(cls, text):
        owner, amount = text.split(":")
        return cls(owner, float(amount))
    @staticmethod
    def rate(): return Account.interest
    def __repr__(self): return f"{type(self).__name__}({self.owner!r}, {self.balance})"
acc = Account.of("Ann:100")
acc.balance += 50
print(acc, acc.__class__.__name__, acc.__dict__)
# ---
from abc import ABC, abstractmethod
import math
class Shape(ABC):
    @abstractmethod
    def area(self) -> float: ...
    def __lt__(self, other): return self.area() < other.area()
class Circle(Shape):
    def __init__(self, r): self.r = r
    def area(self): return math.pi * self.r ** 2
class Square(Shape):
    def __init__(self, a): self.a = a
    def area(self): return self.a ** 2
print([type(s).__name__ for s in sorted([Circle(1), Square(1.5)])])
# ---
class Vector:
    def __init__(self, *parts): self.parts = parts
    def __add__(self, other): return Vector(*(a + b for a, b in zip(self.parts, other.parts)))
    def __mul__(self, k): return Vector(*(a * k for a in self.parts))
    __rmul__ = __mul__
    def __matmul__(self, other): return sum(a * b for a, b in zip(self.parts, other.parts))
    def __iter__(self): return iter(self.parts)
    def __len__(self): return len(self.parts)
    def __getitem__(self, i): return self.parts[i]
    def __eq__(self, other): return self.parts == other.parts
    def __hash__(self): return hash(self.parts)
    def __bool__(self): return any(self.parts)
print(list(Vector(1, 2) + 2 * Vector(3, 4)), Vector(1, 2) @ Vector(3, 4), bool(Vector(0, 0)))
# ---
from enum import Enum, IntFlag, auto
class Status(Enum):
    NEW = auto()
    DONE = auto()
    @property
    def label(self): return self.name.title()
class Right(IntFlag):
    READ = 1
    WRITE = 2
print([s.label for s in Status], Status["DONE"].value, Right.READ | Right.WRITE, Right.READ in (Right.READ | Right.WRITE))
# ---
from enum import StrEnum
class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"
print(Colour("red") is Colour.RED, f"{Colour.BLUE}!", [c.value for c in Colour], Colour.__members__.keys())
# ---
from typing import NamedTuple, TypedDict, Protocol, runtime_checkable
class Row(NamedTuple):
    city: str
    temp: float = 0.0
class Config(TypedDict, total=False):
    name: str
@runtime_checkable
class HasArea(Protocol):
    def area(self) -> float: ...
conf: Config = {"name": "x"}
print(Row("Oslo")._asdict(), conf, isinstance(3, HasArea))
# ---
from typing import Generic, TypeVar, Callable
T = TypeVar("T")
class Stack(Generic[T]):
    def __init__(self) -> None:
        self._items: list[T] = []
    def push(self, item: T) -> None: self._items.append(item)
    def pop(self) -> T: return self._items.pop()
    def __contains__(self, item: object) -> bool: return item in self._items
s: Stack[int] = Stack()
s.push(3); s.push(4)
print(s.pop(), 3 in s, Stack.__name__)
# ---
class Registry:
    plugins = {}
    def __init_subclass__(cls, /, name=None, **kwargs):
        super().__init_subclass__(**kwargs)
        Registry.plugins[name or cls.__name__.lower()] = cls
class Csv(Registry): pass
class Json(Registry, name="js"): pass
print(sorted(Registry.plugins))
# ---
class Positive:
    def __set_name__(self, owner, name): self.name = "_" + name
    def __get__(self, obj, kind=None): return self if obj is None else getattr(obj, self.name)
    def __set__(self, obj, value):
        if value <= 0: raise ValueError(f"{self.name[1:]} must be positive")
        setattr(obj, self.name, value)
class Box:
    width = Positive()
    def __init__(self, width): self.width = width
try:
    Box(-1)
except ValueError as e:
    print(e)
print(Box(3).width)
# ---
class Meta(type):
    def __new__(mcls, name, bases, namespace):
        cls = super().__new__(mcls, name, bases, namespace)
        cls.created = True
        return cls
    def __call__(cls, *args):
        return super().__call__(*args)
class Made(metaclass=Meta):
    def __call__(self, x): return x + 1
print(Made.created, Made()(2), isinstance(Made(), Made))
# ---
class Lazy:
    def __init__(self, **values): self.__values = values
    def __getattr__(self, name):
        try:
            return self.__values[name]
        except KeyError:
            raise AttributeError(name) from None
print(Lazy(a=1).a, hasattr(Lazy(), "b"), getattr(Lazy(), "b", "none"))
# ---
class Countdown:
    def __init__(self, n): self.n = n
    def __iter__(self): return self
    def __next__(self):
        if self.n == 0:
            raise StopIteration
        self.n -= 1
        return self.n + 1
print(list(Countdown(3)), sum(Countdown(4)))
# ---
class Money:
    __slots__ = ("cents",)
    def __init__(self, amount): self.cents = round(amount * 100)
    def __format__(self, spec): return format(self.cents / 100, spec or ".2f") + " EUR"
    def __str__(self): return f"{self}"
    def __float__(self): return self.cents / 100
    def __neg__(self): return Money(-self.cents / 100)
print(f"{Money(3.5):.1f}", float(-Money(2)))
# ---
class Tree:
    def __init__(self, value, *children):
        self.value, self.children = value, children
    def walk(self, depth=0):
        yield depth, self.value
        for child in self.children:
            yield from child.walk(depth + 1)
for depth, value in Tree("root", Tree("a", Tree("a1")), Tree("b")).walk():
    print("  " * depth + value)
# ---
class Temperature(float):
    @property
    def f(self): return self * 9 / 5 + 32
t = Temperature(100)
print(t.f, isinstance(t, float), issubclass(Temperature, float), t.real)
# ---
class Basket:
    def __init__(self): self.items = []
    def add(self, item, n=1):
        self.items.extend([item] * n)
        return self
    def lookup(self, item): return self.items.count(item)
print(Basket().add("pen", 2).add("cup").lookup("pen"))
# ---
from types import SimpleNamespace, MappingProxyType
options = SimpleNamespace(depth=3, name="x")
options.depth += 1
frozen = MappingProxyType(vars(options))
print(options, frozen["depth"])
"""

_CONTROL_FLOW = r"""
def classify(shape):
    match shape:
        case {"kind": "circle", "r": float() | int() as r}:
            return 3.14159 * r * r
        case {"kind": "rect", "w": w, "h": h} if w > 0:
            return w * h
        case [x, y, *rest]:
            return f"{x},{y} and {len(rest)} more"
        case str(text):
            return text.upper()
        case None | []:
            return "nothing"
        case _:
            return "unknown"
print(classify({"kind": "circle", "r": 1}), classify([1, 2, 3]), classify("a"), classify(None))
# ---
from dataclasses import dataclass
@dataclass
class Click:
    x: int
    y: int
command = Click(3, 4)
match command:
    case Click(x=0, y=0):
        print("origin")
    case Click(x, y) if x == y:
        print("diagonal")
    case Click(x=cx):
        print("at", cx)
# ---
commands = ["go north", "take lamp", "quit now", "dance"]
for command in commands:
    match command.split():
        case ["go", direction]:
            print("going", direction)
        case ["take" | "get", thing]:
            print("taking", thing)
        case ["quit", *_]:
            print("bye")
        case other:
            print("what is", other)
# ---
numbers = [3, 8, 12, 5]
if any((found := n) > 10 for n in numbers):
    print("first over ten:", found)
halves = [half for n in numbers if (half := n / 2) > 2]
print(halves)
# ---
lines = iter(["a", "b", "", "c"])
collected = []
while line := next(lines, ""):
    collected.append(line)
print(collected)
# ---
for n in range(2, 30):
    for d in range(2, int(n**0.5) + 1):
        if n % d == 0:
            break
    else:
        print(n, end=" ")
print()
# ---
def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps
longest = max(range(1, 500), key=collatz)
final_answer((longest, collatz(longest)))
# ---
def safe_divide(a, b):
    try:
        result = a / b
    except ZeroDivisionError:
        return float("inf")
    except TypeError as error:
        raise ValueError(f"bad operands: {a!r}, {b!r}") from error
    else:
        return round(result, 3)
    finally:
        attempts_.append((a, b))
attempts_ = []
print(safe_divide(1, 3), safe_divide(1, 0))
try:
    safe_divide("x", 1)
except ValueError as error:
    print(error, "because of", type(error.__cause__).__name__)
# ---
class DataError(Exception):
    def __init__(self, column, message="bad data"):
        super().__init__(f"{message} in {column}")
        self.column = column
def check(frame):
    for column in frame.select_dtypes("number"):
        if (frame[column] < -1e9).any():
            raise DataError(column)
try:
    check(pd.DataFrame({"ok": [1], "bad": [-1e12]}))
except DataError as problem:
    print(problem.column, problem)
# ---
try:
    raise ExceptionGroup("many", [ValueError("a"), TypeError("b"), ValueError("c")])
except* ValueError as group:
    print(len(group.exceptions))
except* TypeError as group:
    print([str(e) for e in group.exceptions])
# ---
import warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    warnings.warn("old way", DeprecationWarning, stacklevel=1)
print([str(w.message) for w in caught])
# ---
import traceback
try:
    int("x")
except ValueError:
    last = traceback.format_exc().strip().splitlines()[-1]
print(last)
# ---
assert isinstance(sales, pd.DataFrame), "sales must be a frame"
total = 0
for row in sales.itertuples(index=False):
    if row.amount < 0:
        continue
    total += row.amount
    if total > 1e9:
        break
print(round(total, 2))
# ---
def walk(node, path=()):
    if isinstance(node, dict):
        for key, value in node.items():
            walk(value, (*path, key))
    else:
        leaves.append((".".join(path), node))
leaves = []
walk({"a": {"b": 1, "c": {"d": 2}}})
leaves
# ---
counter = 0
def tick():
    global counter
    counter += 1
    return counter
[tick() for _ in range(3)]
print(counter)
# ---
def make_counter():
    n = 0
    def up(by=1):
        nonlocal n
        n += by
        return n
    return up
c = make_counter()
c(); c(5)
c()
# ---
if __name__ == "__main__":
    print("as in a script")
# ---
x = 7
kind = "even" if x % 2 == 0 else "odd"
message = "small" if x < 5 else "medium" if x < 10 else "large"
print(kind, message, 5 < x <= 7, not x, x and "yes")
# ---
def stats(*values, precision=2, **labels):
    mean = sum(values) / len(values)
    return {labels.get("name", "mean"): round(mean, precision)}
print(stats(1, 2, 4), stats(*[1, 2], name="m", **{"precision": 1}))
# ---
def positional(a, /, b, *, c=3): return a, b, c
print(positional(1, 2), positional(1, b=5, c=6))
"""

_GENERATORS_AND_CONTEXT_MANAGERS = r"""
def fibonacci():
    a, b = 0, 1
    while True:
        yield a
        a, b = b, a + b
from itertools import islice
print(list(islice(fibonacci(), 10)))
# ---
def averager():
    total, n, mean = 0.0, 0, None
    while True:
        value = yield mean
        total += value
        n += 1
        mean = total / n
gen = averager()
next(gen)
print(gen.send(10), gen.send(20))
gen.close()
# ---
def chunks(rows, size):
    for start in range(0, len(rows), size):
        yield rows[start:start + size]
for number, chunk in enumerate(chunks(sales, 4)):
    print(number, len(chunk), chunk["amount"].sum().round(1))
# ---
squares = (n * n for n in range(10))
print(sum(s for s in squares if s % 2), next(squares, "spent"))
# ---
def parse(lines):
    section = None
    for line in lines:
        line = line.strip()
        if line.startswith("[") and line.endswith("]"):
            section = line[1:-1]
        elif line:
            key, _, value = line.partition("=")
            yield section, key.strip(), value.strip()
print(list(parse(["[a]", "x = 1", "", "[b]", "y=2"])))
# ---
def outer():
    result = yield from inner()
    yield f"inner gave {result}"
def inner():
    yield 1
    yield 2
    return "three"
print(list(outer()))
# ---
from contextlib import contextmanager
@contextmanager
def section(title):
    print(f"<{title}>")
    try:
        yield title.upper()
    finally:
        print(f"</{title}>")
with section("a") as name, section("b"):
    print(name)
# ---
class Timer:
    def __enter__(self):
        import time
        self._start = time.monotonic()
        return self
    def __exit__(self, kind, error, trace):
        import time
        self.seconds = time.monotonic() - self._start
        return False
with Timer() as timer:
    sum(range(1000))
print(timer.seconds >= 0)
# ---
from contextlib import suppress, redirect_stdout, ExitStack, nullcontext
import io
captured = io.StringIO()
with redirect_stdout(captured), suppress(ZeroDivisionError):
    print("hidden")
    1 / 0
with ExitStack() as stack:
    stack.callback(print, "closing")
    stack.enter_context(nullcontext())
captured.getvalue()
# ---
import pathlib
here = pathlib.Path(".")
files = sorted(p.name for p in here.iterdir() if p.suffix == ".md")
stem = pathlib.PurePosixPath("/data/in/report.v2.csv")
print(stem.stem, stem.parent.name, stem.with_suffix(".json").name, len(files) >= 0)
# ---
def running_max(values):
    best = float("-inf")
    for value in values:
        best = max(best, value)
        yield best
print([*running_max([3, 1, 4, 1, 5])])
# ---
pipeline = (line.split(",") for line in ["a,1", "b,x", "c,3"])
numbers = ((k, int(v)) for k, v in pipeline if v.isdigit())
print(dict(numbers))
# ---
from contextlib import closing, contextmanager
import sqlite3
with closing(sqlite3.connect(":memory:")) as db:
    db.execute("create table t (name text, n integer)")
    db.executemany("insert into t values (?, ?)", [("a", 1), ("b", 2), ("a", 3)])
    rows = db.execute("select name, sum(n) from t group by name order by 1").fetchall()
print(rows)
# ---
import decimal
with decimal.localcontext() as context:
    context.prec = 30
    third = decimal.Decimal(1) / decimal.Decimal(3)
print(str(third)[:12], len(str(third)))
"""

_ASYNC_AND_THREADS = r"""
import asyncio
async def fetch(n):
    await asyncio.sleep(0)
    return n * 2
results = await asyncio.gather(*(fetch(n) for n in range(4)))
print(results)
# ---
import asyncio
async def main():
    queue = asyncio.Queue()
    async def producer():
        for n in range(3):
            await queue.put(n)
        await queue.put(None)
    async def consumer():
        out = []
        while (item := await queue.get()) is not None:
            out.append(item)
        return out
    _, got = await asyncio.gather(producer(), consumer())
    return got
await main()
# ---
import asyncio
async def numbers_to(n):
    for i in range(n):
        yield i
        await asyncio.sleep(0)
collected = [i async for i in numbers_to(4) if i % 2 == 0]
print(collected)
# ---
import asyncio
class Session:
    async def __aenter__(self): return self
    async def __aexit__(self, *exc): return False
    async def get(self, key): return {"key": key}
async with Session() as session:
    answer = await session.get("x")
print(answer)
# ---
import asyncio
try:
    async with asyncio.timeout(0.01):
        await asyncio.sleep(5)
except TimeoutError:
    print("too slow")
# ---
import asyncio
async def limited(values, limit=2):
    gate = asyncio.Semaphore(limit)
    async def work(v):
        async with gate:
            await asyncio.sleep(0)
            return v ** 2
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(work(v)) for v in values]
    return [t.result() for t in tasks]
print(await limited([1, 2, 3]))
# ---
import asyncio
def blocking(n): return sum(range(n))
value = await asyncio.to_thread(blocking, 100)
value
# ---
from concurrent.futures import ThreadPoolExecutor, as_completed
def work(n): return n, n ** 2
with ThreadPoolExecutor(max_workers=3) as pool:
    futures = [pool.submit(work, n) for n in range(5)]
    done = dict(f.result() for f in as_completed(futures))
print(sorted(done.items()))
# ---
import threading
lock, total = threading.Lock(), []
def add_up(n):
    for _ in range(n):
        with lock:
            total.append(1)
threads = [threading.Thread(target=add_up, args=(50,)) for _ in range(3)]
for t in threads: t.start()
for t in threads: t.join()
print(len(total))
# ---
import queue
jobs = queue.PriorityQueue()
for item in ((2, "b"), (1, "a")):
    jobs.put(item)
while not jobs.empty():
    print(jobs.get_nowait())
# ---
from contextvars import ContextVar
level = ContextVar("level", default=0)
token = level.set(3)
inside = level.get()
level.reset(token)
print(inside, level.get())
# ---
from contextlib import asynccontextmanager
@asynccontextmanager
async def opened(name):
    log_.append(f"open {name}")
    try:
        yield name
    finally:
        log_.append(f"close {name}")
log_ = []
async with opened("db") as name:
    log_.append(name)
print(log_)
# ---
async def double(x): return 2 * x
[await double(n) for n in range(3)]
"""

_NUMBERS_AND_STATISTICS = r"""
import statistics as st
data = [2, 4, 4, 4, 5, 5, 7, 9]
print(st.mean(data), st.median(data), st.mode(data), round(st.pstdev(data), 3), st.quantiles(data, n=4))
# ---
import statistics
slope, intercept = statistics.linear_regression([1, 2, 3], [2, 4, 6])
print(slope, intercept, statistics.correlation([1, 2, 3], [3, 2, 1]))
# ---
from decimal import Decimal, ROUND_HALF_UP, getcontext
prices = [Decimal("0.10")] * 3
total = sum(prices, Decimal(0)).quantize(Decimal("0.01"), rounding=ROUND_HALF_UP)
print(total, total == Decimal("0.30"), getcontext().prec)
# ---
from fractions import Fraction
harmonic = sum(Fraction(1, n) for n in range(1, 6))
print(harmonic, float(harmonic), harmonic.limit_denominator(10), harmonic.numerator)
# ---
import math
print(math.comb(10, 3), math.factorial(20), math.isclose(0.1 + 0.2, 0.3), math.hypot(3, 4), math.gcd(84, 36))
# ---
import random
random.seed(7)
deck = [f"{rank}{suit}" for suit in "SHDC" for rank in "23456789TJQKA"]
random.shuffle(deck)
hand = random.sample(deck, k=5)
print(len(set(hand)), random.choices(["a", "b"], weights=[1, 3], k=4))
# ---
import random
inside = sum(random.random() ** 2 + random.random() ** 2 <= 1 for _ in range(2000))
estimate = 4 * inside / 2000
print(2.8 < estimate < 3.5)
# ---
import cmath
roots = [cmath.exp(2j * cmath.pi * k / 3) for k in range(3)]
print(abs(sum(roots)) < 1e-9, [round(cmath.phase(r), 2) for r in roots])
# ---
def newton(f, df_, x, tolerance=1e-10):
    for step in range(50):
        delta = f(x) / df_(x)
        x -= delta
        if abs(delta) < tolerance:
            return x, step
    raise RuntimeError("no convergence")
root, n_steps = newton(lambda x: x * x - 2, lambda x: 2 * x, 1.0)
print(f"{root:.6f} after {n_steps}")
# ---
sieve = [True] * 100
sieve[:2] = [False, False]
for n in range(2, 10):
    if sieve[n]:
        sieve[n * n :: n] = [False] * len(sieve[n * n :: n])
primes = [n for n, is_prime in enumerate(sieve) if is_prime]
print(len(primes), primes[-1])
# ---
bits = format(37, "08b")
ones = bits.count("1")
print(bits, ones, 37 >> 2, 37 & 0xF, 1 << 10, ~37, int(bits, 2), (37).bit_length())
# ---
amount, rate, years = 1000, 0.05, 10
balance = amount
schedule = []
for year in range(1, years + 1):
    balance *= 1 + rate
    schedule.append((year, round(balance, 2)))
final_answer(schedule[-1][1])
# ---
import numbers
values = [1, 2.5, "x", True, None, 3 + 0j]
real = [v for v in values if isinstance(v, numbers.Real) and not isinstance(v, bool)]
print(real)
# ---
def lcm_all(*ns):
    import math
    return math.lcm(*ns)
def digits(n): return [int(d) for d in str(n)]
print(lcm_all(4, 6, 10), sum(digits(2**100)), divmod(17, 5), round(2.675, 2), -7 // 2)
# ---
dist = {1: 0.2, 2: 0.5, 3: 0.3}
expected = sum(x * p for x, p in dist.items())
variance = sum((x - expected) ** 2 * p for x, p in dist.items())
print(f"E = {expected:.2f}, sd = {variance ** 0.5:.3f}")
# ---
def moving_average(values, k):
    window, total, out = [], 0, []
    for value in values:
        window.append(value)
        total += value
        if len(window) > k:
            total -= window.pop(0)
        out.append(total / len(window))
    return out
print(moving_average([1, 2, 3, 4, 5], 3))
# ---
from statistics import NormalDist
heights = NormalDist(170, 10)
print(round(heights.cdf(180), 3), round(heights.inv_cdf(0.95), 1), heights.overlap(NormalDist(180, 10)) < 1)
# ---
rng = np.random.default_rng(11)
a_group, b_group = rng.normal(10, 2, 40), rng.normal(11, 2, 40)
observed = b_group.mean() - a_group.mean()
pooled = np.concatenate([a_group, b_group])
extreme = 0
for _ in range(200):
    rng.shuffle(pooled)
    extreme += abs(pooled[:40].mean() - pooled[40:].mean()) >= abs(observed)
print("p about", extreme / 200)
# ---
X = np.column_stack([np.ones(20), np.arange(20)])
y = 3 + 2 * np.arange(20) + np.sin(np.arange(20))
beta, residuals, rank, _ = np.linalg.lstsq(X, y, rcond=None)
r2 = 1 - residuals[0] / ((y - y.mean()) ** 2).sum()
print(beta.round(2), rank, round(r2, 4))
# ---
def gini(values):
    values = np.sort(np.asarray(values, dtype=float))
    n = values.size
    return (2 * np.arange(1, n + 1) - n - 1) @ values / (n * values.sum())
print(round(gini(sales["amount"]), 3), gini([1, 1, 1]))
# ---
def kmeans(points, k, steps=10):
    centres = points[:k].astype(float)
    for _ in range(steps):
        distances = ((points[:, None] - centres) ** 2).sum(axis=2)
        labels = distances.argmin(axis=1)
        centres = np.array([points[labels == j].mean(axis=0) if (labels == j).any() else centres[j] for j in range(k)])
    return labels, centres
labels, centres = kmeans(np.array([[0, 0], [9, 9], [0, 1], [9, 8]]), 2)
print(labels.tolist())
"""

_PROGRAMS = r'''
import logging
logging.basicConfig(level=logging.INFO)
log = logging.getLogger("report")
log.setLevel(logging.WARNING)
log.info("not shown")
n_bad = int((sales["amount"] < 0).sum())
print("bad rows:", n_bad)
# ---
from pprint import pprint, pformat
pprint({"b": [1, 2, {"c": list(range(5))}], "a": ("x",) * 3}, width=40, sort_dicts=True)
print(len(pformat(list(range(50)), compact=True).splitlines()) >= 1)
# ---
import uuid, secrets
ids = {str(uuid.uuid5(uuid.NAMESPACE_DNS, name)) for name in ("a", "b", "a")}
token = secrets.token_hex(8)
print(len(ids), len(token))
# ---
import timeit
seconds = timeit.timeit(lambda: sorted(range(100), reverse=True), number=10)
print(seconds < 5)
# ---
from graphlib import TopologicalSorter, CycleError
tasks = {"report": {"clean", "plot"}, "plot": {"clean"}, "clean": {"load"}}
print(list(TopologicalSorter(tasks).static_order()))
try:
    list(TopologicalSorter({"a": {"b"}, "b": {"a"}}).static_order())
except CycleError as error:
    print(error.args[0])
# ---
import gzip, io
packed = gzip.compress(b"abc" * 100)
with gzip.open(io.BytesIO(packed), "rt") as stream:
    print(len(stream.read()), len(packed) < 300)
# ---
import ast
parsed = ast.literal_eval("{'a': [1, 2, (3, 4)]}")
print(parsed["a"][2])
# ---
price = lookup(key="pen")
total = price * 3
print(f"3 pens: {total}")
# ---
found = {key: lookup(key=key) for key in ("pen", "cup")}
cheapest = min(found, key=found.get)
final_answer({"cheapest": cheapest, "price": found[cheapest]})
# ---
def report(frame, by, value="amount"):
    """One line for each group.

    Args:
        frame: with columns `by` and `value`
    """
    lines = []
    for name, group in frame.groupby(by):
        lines.append(f"- {name}: {group[value].sum():,.0f} ({len(group)} rows)")
    return "\n".join(lines)
print(report(sales, "region"))
# ---
steps = {"load": lambda _: sales, "filter": lambda d: d[d["amount"] > 50], "count": len}
value = None
for name, function in steps.items():
    value = function(value)
    print(name, type(value).__name__)
# ---
import dataclasses, typing, enum
@dataclasses.dataclass
class Task:
    name: str
    hours: float
    after: typing.Optional["Task"] = None
    def start(self) -> float:
        return 0.0 if self.after is None else self.after.start() + self.after.hours
a = Task("a", 2); b = Task("b", 3, a); c_ = Task("c", 1, b)
print(c_.start())
# ---
board = [["."] * 3 for _ in range(3)]
board[1][1] = "X"
board[0][2] = "O"
print("\n".join(" ".join(row) for row in board))
lines = board + [list(col) for col in zip(*board)]
winner = next((line[0] for line in lines if len(set(line)) == 1 and line[0] != "."), None)
print(winner)
# ---
def quicksort(xs):
    if len(xs) <= 1:
        return xs
    pivot, *rest = xs
    return quicksort([x for x in rest if x < pivot]) + [pivot] + quicksort([x for x in rest if x >= pivot])
print(quicksort([5, 3, 8, 1, 9, 2]))
# ---
def knapsack(items, capacity):
    best = [0] * (capacity + 1)
    for weight, value in items:
        for room in range(capacity, weight - 1, -1):
            best[room] = max(best[room], best[room - weight] + value)
    return best[capacity]
print(knapsack([(3, 4), (4, 5), (2, 3)], 6))
# ---
def levenshtein(a, b):
    previous = list(range(len(b) + 1))
    for i, ca in enumerate(a, 1):
        current = [i]
        for j, cb in enumerate(b, 1):
            current.append(min(previous[j] + 1, current[-1] + 1, previous[j - 1] + (ca != cb)))
        previous = current
    return previous[-1]
print(levenshtein("kitten", "sitting"))
# ---
from heapq import heappush, heappop
def dijkstra(graph, source):
    distance, heap = {source: 0}, [(0, source)]
    while heap:
        d, node = heappop(heap)
        if d > distance.get(node, float("inf")):
            continue
        for neighbour, weight in graph[node].items():
            if (new := d + weight) < distance.get(neighbour, float("inf")):
                distance[neighbour] = new
                heappush(heap, (new, neighbour))
    return distance
print(dijkstra({"a": {"b": 1, "c": 4}, "b": {"c": 2}, "c": {}}, "a"))
# ---
life = {(0, 1), (1, 1), (2, 1)}
def step_(cells):
    from collections import Counter
    near = Counter((x + dx, y + dy) for x, y in cells for dx in (-1, 0, 1) for dy in (-1, 0, 1) if dx or dy)
    return {cell for cell, n in near.items() if n == 3 or (n == 2 and cell in cells)}
print(sorted(step_(life)))
# ---
roman = [(1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")]
def to_roman(n):
    out = ""
    for value, sign in roman:
        count, n = divmod(n, value)
        out += sign * count
    return out
print(to_roman(2024))
# ---
queries = ["amount > 100", "region == 'north'", "bad syntax here ==="]
for query in queries:
    try:
        print(query, "->", len(sales.query(query)))
    except Exception as error:
        print(query, "failed:", type(error).__name__)
# ---
cache = {}
def expensive(n, *, _cache=cache):
    if n not in _cache:
        _cache[n] = sum(i * i for i in range(n))
    return _cache[n]
expensive(10); expensive(10)
print(cache)
# ---
emoji = "データ 🙂 — café"
print(len(emoji), emoji.encode("utf-8")[:4], emoji.upper(), "🙂" in emoji)
# ---
big = 10**100
print(len(str(big)), big % 97, f"{big:.3e}", 2**200 > big)
# ---
text_ = "x" * 1_000
zeros = [0] * 10_000
table = [[0] * 5 for _ in range(5)]
buffer = bytearray(64)
buffer[0] = 255
print(len(text_), len(zeros), sum(map(len, table)), buffer[0])
# ---
lines = []
lines.append("# Report")
lines.append(f"Rows: {len(sales)}")
for column in sales.columns:
    lines.append(f"- **{column}** ({sales[column].dtype}): {sales[column].nunique()} values")
markdown = "\n".join(lines)
final_answer(markdown)
# ---
import platform
import locale
print(platform.python_implementation(), isinstance(locale.localeconv(), dict))
# ---
import glob
from os.path import basename, join, splitext
names = [splitext(basename(path))[0] for path in glob.glob(join("no_such_folder", "*.csv"))]
print(names)
# ---
with open(path) as file:
    header, *rest = file.read().splitlines()
columns = header.split(",")
print(columns, len(rest))
# ---
frame = pd.read_csv(path)
frame["double"] = frame["n"] * 2
assert frame["double"].sum() == 2 * frame["n"].sum()
frame.tail(2)
# ---
from pathlib import Path
source = Path(path)
print(source.exists(), source.suffix, len(source.read_text().splitlines()))
# ---
import csv
with open(path, newline="", encoding="utf-8") as handle:
    rows = list(csv.DictReader(handle))
print(rows[0]["name"], sum(int(row["n"]) for row in rows))
# ---
del_me = list(range(5))
del del_me[1:3]
del del_me
scratch = 3
scratch -= 1
scratch
# ---
print(*sorted(sales["product"].unique()), sep=", ", end=".\n")
print(repr("a\tb"), ascii("é"), chr(955), ord("A"), hex(255), oct(8), bin(5))
# ---
zipped = dict(zip(["a", "b"], [1, 2], strict=True))
merged_ = {**zipped, "c": 3} | {"a": 10}
inverse = {v: k for k, v in merged_.items()}
print(merged_, inverse, list(reversed(merged_)), all(merged_.values()), any([]))
# ---
s = slice(1, None, 2)
letters = "abcdefg"
print(letters[s], letters[-3:], letters[::-1], letters.index("d"), letters.find("z"))
# ---
lst = [3, 1, 2]
copy_ = sorted(lst)
lst.sort(key=lambda v: -v)
lst.insert(0, 9)
lst.remove(1)
print(copy_, lst, lst.pop(), lst.count(3), [*lst, *copy_])
# ---
value: int = 3
maybe: int | None = None
pairs: list[tuple[str, int]] = [("a", 1)]
def typed(x: list[int], *, flag: bool = False) -> dict[str, int]:
    return {"n": len(x) if flag else 0}
print(value, maybe, pairs, typed([1], flag=True), typed.__annotations__.keys())
# ---
callback = print if len(sales) > 5 else (lambda *_: None)
callback("many rows")
dispatch = {"mean": np.mean, "max": np.max, "spread": lambda v: np.max(v) - np.min(v)}
print({name: round(float(f(sales["amount"])), 1) for name, f in dispatch.items()})
# ---
sql_like = (
    sales[sales["quantity"].ge(2)]
    .groupby(["region", "product"], as_index=False)["amount"].sum()
    .query("amount > 20")
    .sort_values("amount", ascending=False)
    .head(5)
)
sql_like
# ---
try:
    import polars_does_not_exist_here as pl
except ImportError:
    pl = None
print(pl is None)
# ---
warn_if = lambda condition, text: print("warning:", text) if condition else None
warn_if(sales["amount"].isna().any(), "missing amounts")
warn_if(len(sales) < 1000, "small sample")
# ---
answer = None
for candidate in sales.sort_values("amount", ascending=False).to_dict("records"):
    if candidate["quantity"] > 1:
        answer = candidate["product"]
        break
final_answer(answer)
# ---
def simulate(n_days, seed=0):
    rng = np.random.default_rng(seed)
    stock, history = 20, []
    for day in range(n_days):
        demand = int(rng.poisson(4))
        sold = min(stock, demand)
        stock -= sold
        if stock < 8:
            stock += 15
        history.append({"day": day, "demand": demand, "sold": sold, "stock": stock})
    return pd.DataFrame(history)
sim = simulate(30)
print(sim[["demand", "sold"]].sum().to_dict(), (sim["sold"] < sim["demand"]).sum())
'''

_HABITS_OF_MODELS = r'''
import os
print(os.path.exists(path), os.path.basename(path))
# ---
# Step 1: look at the data
print("Columns:", list(sales.columns))
print(sales.head())
print(sales.isnull().sum())
# ---
df = sales.copy()
df["revenue"] = df["amount"] * df["quantity"]
df = df.sort_values("revenue", ascending=False)
print(df.head(3))
# ---
import numpy as np
import pandas as pd
from datetime import datetime

def analyze(df: pd.DataFrame) -> dict:
    """Summarises the frame."""
    return {"rows": len(df), "numeric": df.select_dtypes(include=[np.number]).columns.tolist()}

result = analyze(sales)
print(result)
# ---
results = []
for i, (name, group) in enumerate(sales.groupby("product")):
    results.append({"product": name, "total": group["amount"].sum(), "rank": i})
results_df = pd.DataFrame(results)
final_answer(results_df)
# ---
if "sales" in locals() or "sales" in dir():
    print("sales is there")
# ---
data = {"name": ["a", "b"], "value": [1, 2]}
df_new = pd.DataFrame.from_dict(data)
for index, row in df_new.iterrows():
    print(f"Row {index}: {row['name']} = {row['value']}")
# ---
try:
    answer = sales["amount"].max()
except Exception as e:
    print(f"Error: {e}")
    answer = None
final_answer(answer)
# ---
import re, json, math, random, time, itertools, functools, collections, statistics
print(math.sqrt(16), statistics.fmean([1, 2]))
# ---
max_value = max(sales["amount"])
min_value = min(sales["amount"])
print(f"The range is {max_value - min_value:.2f}")
# ---
from typing import Any, Dict, List, Optional, Tuple, Union
def pick(rows: List[Dict[str, Any]], key: Optional[str] = None) -> Union[str, None]:
    return next((str(r[key]) for r in rows if key in r), None)
print(pick([{"a": 1}, {"b": 2}], "b"))
# ---
info = []
sales.info(buf=type("B", (), {"write": lambda self, s: info.append(s), "flush": lambda self: None})())
print("".join(info)[:80])
# ---
print("=" * 40)
print("SUMMARY".center(40))
print("=" * 40)
for key, value in {"rows": len(sales), "regions": sales["region"].nunique()}.items():
    print(f"{key:.<30}{value:>10}")
# ---
_ = [print(n) for n in range(2)]
for _ in range(2):
    pass
'''

THEMES: dict[str, list[str]] = {
    "pandas": to_snippets(_PANDAS),
    "numpy": to_snippets(_NUMPY),
    "matplotlib": to_snippets(_MATPLOTLIB),
    "text and json": to_snippets(_TEXT_AND_JSON),
    "dates": to_snippets(_DATES),
    "itertools and functools": to_snippets(_ITERTOOLS_AND_FUNCTOOLS),
    "collections": to_snippets(_COLLECTIONS),
    "classes": to_snippets(_CLASSES),
    "control flow": to_snippets(_CONTROL_FLOW),
    "generators and context managers": to_snippets(_GENERATORS_AND_CONTEXT_MANAGERS),
    "async and threads": to_snippets(_ASYNC_AND_THREADS),
    "numbers and statistics": to_snippets(_NUMBERS_AND_STATISTICS),
    "programs": to_snippets(_PROGRAMS),
    "habits of models": to_snippets(_HABITS_OF_MODELS),
}
"""By theme."""

SNIPPETS = [snippet for theme in THEMES.values() for snippet in theme]
