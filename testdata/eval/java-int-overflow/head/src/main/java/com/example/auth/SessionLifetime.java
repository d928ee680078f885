package com.example.auth;

import java.time.Clock;
import java.time.Instant;

/** How long sessions last. */
public final class SessionLifetime {

  private static final int SECONDS_A_DAY = 24 * 60 * 60;
  private static final int REMEMBERED_DAYS = 30;
  private static final long SHORT_MILLIS = 12 * 60 * 60 * 1000;
  private static final long REMEMBERED_MILLIS = REMEMBERED_DAYS * SECONDS_A_DAY * 1000;

  private final Clock clock;

  public SessionLifetime(Clock clock) {
    this.clock = clock;
  }

  /** When a session that begins now ends. */
  public Instant end(boolean remembered) {
    return clock.instant().plusMillis(remembered ? REMEMBERED_MILLIS : SHORT_MILLIS);
  }

  /** Whether a session has ended. */
  public boolean over(Instant end) {
    return !clock.instant().isBefore(end);
  }
}
