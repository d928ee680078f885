package com.example.audit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Searches the audit files, of which there is one a day. */
public final class AuditSearch {

  private static final int MAX_HITS = 200;
  private static final int MAX_DAYS = 31;

  private final Path directory;

  public AuditSearch(Path directory) {
    this.directory = directory;
  }

  /** Up to 200 entries about a customer, of at most 31 days up to one, the newest day first. */
  public List<String> find(long customerId, LocalDate upTo, int days) throws IOException {
    String marker = "customer=" + customerId + " ";
    List<String> hits = new ArrayList<>();
    for (int i = 0; i < Math.min(days, MAX_DAYS) && hits.size() < MAX_HITS; i++) {
      Path file = directory.resolve("audit-" + upTo.minusDays(i) + ".log");
      try (Stream<String> lines = Files.lines(file)) {
        lines.filter(line -> line.contains(marker)).limit(MAX_HITS - hits.size()).forEach(hits::add);
      } catch (NoSuchFileException e) {
        continue; // nothing happened on that day
      }
    }
    return hits;
  }
}
