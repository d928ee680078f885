package com.example.billing;

import java.time.Clock;
import java.time.LocalDate;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.data.domain.PageRequest;
import org.springframework.data.domain.Pageable;
import org.springframework.data.domain.Sort;
import org.springframework.mail.MailException;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/** Reminds customers of invoices that are overdue, once each. */
@Component
public class ReminderJob {

  private static final Logger log = LoggerFactory.getLogger(ReminderJob.class);

  private static final int PAGE_SIZE = 200;

  private final InvoiceRepository invoices;
  private final ReminderMail mail;
  private final Clock clock;

  public ReminderJob(InvoiceRepository invoices, ReminderMail mail, Clock clock) {
    this.invoices = invoices;
    this.mail = mail;
    this.clock = clock;
  }

  @Scheduled(cron = "0 30 4 * * *", zone = "Europe/Berlin")
  public void remindAll() {
    LocalDate today = LocalDate.now(clock);
    int number = 0;
    int sent = 0;
    List<Invoice> overdue;
    do {
      Pageable page = PageRequest.of(number, PAGE_SIZE, Sort.by("id"));
      overdue = invoices.findByDueOnBeforeAndPaidFalseAndRemindedAtIsNull(today, page);
      for (Invoice invoice : overdue) {
        if (remind(invoice)) {
          sent++;
        }
      }
      number++;
    } while (overdue.size() == PAGE_SIZE);
    log.info("{} reminders sent", sent);
  }

  private boolean remind(Invoice invoice) {
    try {
      mail.send(invoice);
    } catch (MailException e) {
      log.warn("no reminder of invoice {}, tomorrow is another day", invoice.getNumber(), e);
      return false;
    }
    invoice.setRemindedAt(clock.instant());
    invoices.save(invoice);
    return true;
  }
}
