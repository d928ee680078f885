"""Writes scores.tsv and reviews.json: what the algorithms that review reports
were first described by make of inputs near every boundary. The functions stand
here as they were published, so that Python's own doubles say what is right.

    python3 golden.py    # in this directory
"""
import json
import math
import random


def should_proceed_to_next_phase(reviews):
    all_success = all(r["status"] == "SUCCESS" for r in reviews)
    if not all_success:
        failed_agents = [r["agent"] for r in reviews if r["status"] == "FAILURE"]
        return False, f"Review failures: {', '.join(failed_agents)}"

    critical_issues = [r for r in reviews if r.get("severity") == "Critical"]
    if critical_issues:
        agents = [r["agent"] for r in critical_issues]
        return False, f"Critical issues from: {', '.join(agents)}"

    low_confidence = [r for r in reviews if r.get("confidence", 1.0) < 0.7]
    if low_confidence:
        agents = [r["agent"] for r in low_confidence]
        return False, f"Low confidence from: {', '.join(agents)}"

    for review in reviews:
        if review["agent"] == "spec-reviewer":
            qa = review["success_evidence"]["quality_assessment"]
            if qa["completeness_score"] < 0.7:
                return False, "Completeness score below threshold (0.7)"
            if qa["testability_score"] < 0.7:
                return False, "Testability score below threshold (0.7)"

    return True, "All reviews passed quality gates"


def aggregate_recommendations(reviews):
    all_recommendations = []

    for review in reviews:
        findings = review["success_evidence"].get("review_findings", {})
        recommendations = findings.get("recommendations", [])

        for rec in recommendations:
            all_recommendations.append({
                "priority": rec["priority"],
                "category": rec["category"],
                "finding": rec["finding"],
                "recommendation": rec["recommendation"],
                "location": rec["location"],
                "reviewer": review["agent"],
                "severity": review.get("severity", "Minor")
            })

    priority_order = {"High": 1, "Medium": 2, "Low": 3}
    severity_order = {"Critical": 0, "Major": 1, "Minor": 2}

    return sorted(all_recommendations, key=lambda x: (
        severity_order.get(x["severity"], 3),
        priority_order.get(x["priority"], 4)
    ))


def aggregate_quality_scores(reviews):
    spec_review = next((r for r in reviews if r["agent"] == "spec-reviewer"), None)
    if not spec_review:
        return {"error": "No spec-reviewer found"}

    qa = spec_review["success_evidence"]["quality_assessment"]

    base_score = (
        qa["completeness_score"] * 0.3 +
        qa["testability_score"] * 0.3 +
        qa["clarity_score"] * 0.2 +
        qa["pain_point_alignment"] * 0.2
    ) * 0.7

    pm_review = next((r for r in reviews if r["agent"] == "technical-pm"), None)
    business_score = 0.0
    if pm_review:
        validation = pm_review["success_evidence"].get("validation_results", {})
        business_score = (
            float(validation.get("pain_point_aligned", False)) * 0.15
        )

    arch_review = next((r for r in reviews if r["agent"] == "architecture-review"), None)
    technical_score = 0.0
    if arch_review:
        validation = arch_review["success_evidence"].get("validation_results", {})
        technical_score = (
            float(validation.get("architecture_feasible", False)) * 0.15
        )

    overall_score = base_score + business_score + technical_score

    return {
        "overall_score": round(overall_score, 2),
        "grade": _score_to_grade(overall_score),
        "components": {
            "spec_quality": round(base_score / 0.7, 2),
            "business_alignment": round(business_score / 0.15, 2) if business_score > 0 else None,
            "technical_feasibility": round(technical_score / 0.15, 2) if technical_score > 0 else None
        }
    }


def _score_to_grade(score):
    if score >= 0.9: return "A"
    if score >= 0.8: return "B"
    if score >= 0.7: return "C"
    if score >= 0.6: return "D"
    return "F"


def resolve_readiness_conflict(reviews):
    statuses = []
    for review in reviews:
        validation = review["success_evidence"].get("validation_results", {})
        if validation.get("quality_threshold_met", False):
            statuses.append("READY")
        elif review.get("severity") == "Critical":
            statuses.append("NOT READY")
        else:
            statuses.append("CONDITIONAL")

    if "NOT READY" in statuses:
        return "NOT READY"
    if "CONDITIONAL" in statuses:
        return "CONDITIONAL"
    return "READY"


def deduplicate_recommendations(recommendations):
    grouped = {}
    for rec in recommendations:
        key = rec["location"]
        if key not in grouped:
            grouped[key] = []
        grouped[key].append(rec)

    expertise_priority = {
        "spec-reviewer": {"requirements", "testability", "clarity", "structure"},
        "technical-pm": {"business", "roi", "pain_points"},
        "architecture-review": {"architecture", "scalability", "performance", "security"}
    }

    deduplicated = []
    for location, recs in grouped.items():
        if len(recs) == 1:
            deduplicated.append(recs[0])
        else:
            best_rec = max(recs, key=lambda r: (
                r["category"] in expertise_priority.get(r["reviewer"], set()),
                {"High": 3, "Medium": 2, "Low": 1}.get(r["priority"], 0)
            ))
            deduplicated.append(best_rec)

    return deduplicated


# What follows makes the inputs.

rng = random.Random(20251006)
EDGES = [0.6, 0.7, 0.8, 0.9, 1.0, 0.0]
EDGES += [math.nextafter(e, d) for e in EDGES for d in (0.0, 1.0)]


def report(agent, **fields):
    evidence = {}
    if agent == "spec-reviewer":
        evidence["quality_assessment"] = dict(zip(
            ("completeness_score", "testability_score", "clarity_score", "pain_point_alignment"),
            fields.pop("scores")))
    for name in ("validation_results", "review_findings"):
        if name in fields:
            evidence[name] = fields.pop(name)
    return {"status": "SUCCESS", "agent": agent, "operation_type": "review", "summary": "Summary of " + agent,
            "success_evidence": evidence, **fields}


def scored(scores, business, technical):
    reviews = [report("spec-reviewer", scores=scores)]
    if business is not None:
        reviews.append(report("technical-pm", validation_results={"pain_point_aligned": business}))
    if technical is not None:
        reviews.append(report("architecture-review", validation_results={"architecture_feasible": technical}))
    return aggregate_quality_scores(reviews)


def boundary(scores, business, technical):
    """Whether a score is within a few units in the last place of a boundary."""
    base = (scores[0] * 0.3 + scores[1] * 0.3 + scores[2] * 0.2 + scores[3] * 0.2) * 0.7
    overall = base + (0.15 if business else 0.0) + (0.15 if technical else 0.0)
    near = lambda x, step, offset: abs((x / step - offset) - round(x / step - offset)) < 1e-12
    return near(overall, 0.01, 0.5) or near(base / 0.7, 0.01, 0.5) or near(overall, 0.1, 0.0)


def write_scores():
    rows = []
    def add(scores, business, technical):
        got = scored(scores, business, technical)
        c = got["components"]
        rows.append([*scores, business, technical, got["overall_score"], got["grade"],
                     c["spec_quality"], c["business_alignment"], c["technical_feasibility"]])
    answers = (None, False, True)
    for e in EDGES:
        for b in answers:
            for t in answers:
                add((e, e, e, e), b, t)
    while len(rows) < 2500:
        digits = rng.choice((1, 2, 2, 3))
        scores = tuple(round(rng.random(), digits) for _ in range(4))
        b, t = rng.choice(answers), rng.choice(answers)
        if boundary(scores, b, t):
            add(scores, b, t)
    for _ in range(500):
        add(tuple(rng.random() for _ in range(4)), rng.choice(answers), rng.choice(answers))
    with open("scores.tsv", "w") as f:
        f.write("\t".join(("completeness", "testability", "clarity", "alignment", "aligned", "feasible",
                           "overall", "grade", "quality", "business", "technical")) + "\n")
        for row in rows:
            f.write("\t".join(x if isinstance(x, str) else json.dumps(x) for x in row) + "\n")


def recommendation(n):
    return {"priority": rng.choice(("High", "Medium", "Low", "Someday")),
            "category": rng.choice(("requirements", "clarity", "business", "roi", "architecture", "security", "style")),
            "finding": f"Finding {n}", "recommendation": f"Change {n}",
            "location": rng.choice(("Goals", "Scope", "API", "Data", "Limits", "Rollout", "Costs", "Tests"))}


def write_reviews():
    cases = []
    n = 0
    for _ in range(150):
        reviews = []
        for agent in rng.sample(("spec-reviewer", "technical-pm", "architecture-review", "somebody"), rng.randint(1, 4)):
            recommendations = []
            for _ in range(rng.choice((0, 1, 3, 6))):
                n += 1
                recommendations.append(recommendation(n))
            fields = {"review_findings": {"recommendations": recommendations},
                      "validation_results": {"quality_threshold_met": rng.random() < 0.7,
                                             "pain_point_aligned": rng.random() < 0.5,
                                             "architecture_feasible": rng.random() < 0.5}}
            if agent == "spec-reviewer":
                fields["scores"] = [rng.choice(EDGES[:3] + [0.7, 0.75, 0.85, 0.95]) for _ in range(4)]
            if rng.random() < 0.5:
                fields["confidence"] = rng.choice((0.7, 0.71, 0.9, 1.0, math.nextafter(0.7, 0)) if rng.random() < 0.5 else (0.9, 1.0))
            if rng.random() < 0.6:
                fields["severity"] = rng.choice(("Critical", "Major", "Minor", "Minor", "Minor", "Trivial"))
            r = report(agent, **fields)
            if rng.random() < 0.08:
                r["status"] = "FAILURE"
            reviews.append(r)
        proceed, rationale = should_proceed_to_next_phase(reviews)
        cases.append({"reviews": reviews, "want": {
            "proceed": proceed, "rationale": rationale, "readiness": resolve_readiness_conflict(reviews),
            "quality_scores": aggregate_quality_scores(reviews),
            "recommendations": deduplicate_recommendations(aggregate_recommendations(reviews))}})
    with open("reviews.json", "w") as f:
        f.write("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")


write_scores()
write_reviews()
