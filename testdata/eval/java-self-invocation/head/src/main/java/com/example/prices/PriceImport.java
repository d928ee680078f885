package com.example.prices;

import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

/** Imports price lists. */
@Service
public class PriceImport {

  private static final Logger log = LoggerFactory.getLogger(PriceImport.class);

  private final PriceRepository prices;
  private final PriceHistoryRepository history;
  private final Clock clock;

  public PriceImport(PriceRepository prices, PriceHistoryRepository history, Clock clock) {
    this.prices = prices;
    this.history = history;
    this.clock = clock;
  }

  /** Imports all rows that can be, and returns the articles of the others. */
  public List<String> importAll(List<PriceRow> rows) {
    List<String> failed = new ArrayList<>();
    for (PriceRow row : rows) {
      try {
        saveRow(row);
      } catch (DataAccessException e) {
        log.warn("price of {} not imported", row.sku(), e);
        failed.add(row.sku());
      }
    }
    return failed;
  }

  @Transactional(propagation = Propagation.REQUIRES_NEW)
  public void saveRow(PriceRow row) {
    Price price = prices.findBySku(row.sku()).orElseGet(() -> new Price(row.sku()));
    long before = price.getCents();
    price.setCents(row.cents());
    prices.save(price);
    history.save(new PriceChange(row.sku(), before, row.cents(), clock.instant()));
  }
}
