package com.example.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AuditSearchTest {

  @TempDir Path directory;

  @Test
  void daysWithoutFileAreLeftOut() throws IOException {
    Files.writeString(directory.resolve("audit-2025-07-01.log"), "customer=7 signed in\ncustomer=71 signed in\n");
    List<String> hits = new AuditSearch(directory).find(7, LocalDate.of(2025, 7, 3), 3);
    assertEquals(List.of("customer=7 signed in"), hits);
  }
}
