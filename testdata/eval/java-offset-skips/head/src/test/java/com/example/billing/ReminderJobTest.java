package com.example.billing;

import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.eq;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import java.time.Clock;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import org.junit.jupiter.api.Test;

class ReminderJobTest {

  private final InvoiceRepository invoices = mock(InvoiceRepository.class);
  private final ReminderMail mail = mock(ReminderMail.class);
  private final Instant now = Instant.parse("2025-07-01T02:30:00Z");

  @Test
  void remindsOnce() {
    Invoice invoice = new Invoice("2025-17", LocalDate.of(2025, 6, 15));
    when(invoices.findByDueOnBeforeAndPaidFalseAndRemindedAtIsNull(eq(LocalDate.of(2025, 7, 1)), any()))
        .thenReturn(List.of(invoice));
    new ReminderJob(invoices, mail, Clock.fixed(now, ZoneOffset.UTC)).remindAll();
    verify(mail).send(invoice);
    verify(invoices).save(invoice);
  }
}
