package com.example.auth;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class SessionLimiterTest {

  private final SessionLimiter limiter = new SessionLimiter();

  @Test
  void fiveOfManyAtOnceGetIn() {
    long opened =
        IntStream.range(0, 100).parallel().filter(i -> limiter.tryOpen(1, "s" + i)).count();
    assertEquals(5, opened);
  }

  @Test
  void closingMakesRoom() {
    IntStream.range(0, 5).forEach(i -> assertTrue(limiter.tryOpen(1, "s" + i)));
    assertFalse(limiter.tryOpen(1, "s5"));
    limiter.close(1, "s0");
    assertTrue(limiter.tryOpen(1, "s5"));
  }
}
