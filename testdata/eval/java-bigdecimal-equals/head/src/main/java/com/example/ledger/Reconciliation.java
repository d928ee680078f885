package com.example.ledger;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Compares a bank's statement with the books. */
public final class Reconciliation {

  /** What differs: an amount is null where the other side has none. */
  public record Difference(String reference, BigDecimal bank, BigDecimal books) {}

  private Reconciliation() {}

  /** All differences, those of the statement first. References are unique. */
  public static List<Difference> differences(List<Entry> statement, List<Entry> books) {
    Map<String, BigDecimal> byReference = new HashMap<>();
    for (Entry entry : books) {
      byReference.put(entry.reference(), entry.amount());
    }
    List<Difference> out = new ArrayList<>();
    for (Entry entry : statement) {
      BigDecimal booked = byReference.remove(entry.reference());
      if (booked == null) {
        out.add(new Difference(entry.reference(), entry.amount(), null));
        continue;
      }
      if (!booked.equals(entry.amount())) {
        out.add(new Difference(entry.reference(), entry.amount(), booked));
      }
    }
    byReference.forEach((reference, amount) -> out.add(new Difference(reference, null, amount)));
    return out;
  }
}
