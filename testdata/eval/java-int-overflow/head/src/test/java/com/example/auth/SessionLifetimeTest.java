package com.example.auth;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import org.junit.jupiter.api.Test;

class SessionLifetimeTest {

  private final Instant now = Instant.parse("2025-07-01T08:00:00Z");
  private final SessionLifetime lifetime = new SessionLifetime(Clock.fixed(now, ZoneOffset.UTC));

  @Test
  void lastsTwelveHours() {
    assertEquals(now.plus(Duration.ofHours(12)), lifetime.end(false));
  }

  @Test
  void isOverAtItsEnd() {
    assertTrue(lifetime.over(now));
  }
}
