package com.example.audit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;

/** Searches the audit files, of which there is one a day. */
public final class AuditSearch {

  private static final int MAX_HITS = 200;

  private final Path directory;

  public AuditSearch(Path directory) {
    this.directory = directory;
  }

  /** The newest entries about a customer, of so many days up to one. */
  public List<String> find(String customerId, LocalDate upTo, int days) {
    String marker = "customer=" + customerId + " ";
    List<String> hits = new ArrayList<>();
    for (int i = 0; i < days && hits.size() < MAX_HITS; i++) {
      Path file = directory.resolve("audit-" + upTo.minusDays(i) + ".log");
      if (!Files.exists(file)) {
        continue;
      }
      try {
        Files.lines(file)
            .filter(line -> line.contains(marker))
            .limit(MAX_HITS - hits.size())
            .forEach(hits::add);
      } catch (IOException e) {
        throw new UncheckedIOException("audit file " + file + " can't be read", e);
      }
    }
    return hits;
  }
}
