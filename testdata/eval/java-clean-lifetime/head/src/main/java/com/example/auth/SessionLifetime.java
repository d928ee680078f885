package com.example.auth;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;

/** How long sessions last. */
public final class SessionLifetime {

  private static final Duration USUAL = Duration.ofHours(12);
  private static final Duration REMEMBERED = Duration.ofDays(30);

  private final Clock clock;

  public SessionLifetime(Clock clock) {
    this.clock = clock;
  }

  /** When a session that begins now ends. */
  public Instant end(boolean remembered) {
    return clock.instant().plus(remembered ? REMEMBERED : USUAL);
  }

  /** The Max-Age of the cookie, in whole seconds. */
  public int cookieSeconds(boolean remembered) {
    return Math.toIntExact((remembered ? REMEMBERED : USUAL).toSeconds());
  }
}
