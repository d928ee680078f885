package com.example.billing;

import java.time.LocalDate;
import java.util.List;
import java.util.Optional;
import org.springframework.data.domain.Pageable;
import org.springframework.data.jpa.repository.JpaRepository;

public interface InvoiceRepository extends JpaRepository<Invoice, Long> {

  Optional<Invoice> findByNumber(String number);

  List<Invoice> findByDueOnBeforeAndPaidFalseAndRemindedAtIsNull(LocalDate day, Pageable page);
}
