package com.example.auth;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import org.junit.jupiter.api.Test;

class SessionLifetimeTest {

  private final Instant now = Instant.parse("2025-07-01T08:00:00Z");
  private final SessionLifetime lifetime = new SessionLifetime(Clock.fixed(now, ZoneOffset.UTC));

  @Test
  void lasts() {
    assertEquals(Instant.parse("2025-07-01T20:00:00Z"), lifetime.end(false));
    assertEquals(Instant.parse("2025-07-31T08:00:00Z"), lifetime.end(true));
    assertEquals(2_592_000, lifetime.cookieSeconds(true));
  }
}
